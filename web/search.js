// Search the site: find the sections that contain every typed word, a word that begins with it, or a word that differs
// from it by one slip. `make site` adds TEXTS to this file, [{id, where, heading, text}].
"use strict";

// Return the sections that match the typed text, best first, each with `terms`, the words in it that matched.
function finder(texts) {
    const words = text => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
    const places = new Map();       // word -> Map of section -> how often; in a heading it counts for four
    texts.forEach(({heading, text}, section) => [...Array(4).fill(heading), text].flatMap(words).forEach(word => {
        if (!places.has(word))
            places.set(word, new Map());
        places.get(word).set(section, (places.get(word).get(section) ?? 0) + 1);
    }));
    return typed => {
        const every = words(typed).map(term => {
            const scores = new Map();
            for (const [word, where] of places) {
                const near = word === term ? 1 : word.startsWith(term) ? 0.7 : slip(term, word) ? 0.2 : 0;
                if (near)
                    for (const [section, often] of where) {
                        const score = near * Math.log(1 + texts.length / where.size) * often / (often + 2);
                        if (score > (scores.get(section)?.score ?? 0))
                            scores.set(section, {score, word});
                    }
            }
            return scores;
        });
        const sections = [...every[0]?.keys() ?? []].filter(section => every.every(scores => scores.has(section)));
        return sections.map(section => {
            const found = every.map(scores => scores.get(section)), score = found.reduce((sum, one) => sum + one.score, 0);
            return {...texts[section], terms: found.map(one => one.word), score};
        }).sort((a, b) => b.score - a.score);
    };
}

// Return true if the words differ by one letter too many, too few or different, or by two swapped letters; the
// beginning of a longer word counts too.
function slip(term, word) {
    return term.length > 4 && [word, word.slice(0, term.length)].some(whole => {
        const least = Math.min(term.length, whole.length);
        let from = 0, end = 0;
        while (from < least && term[from] === whole[from])
            from++;
        while (end < least - from && term.at(-1 - end) === whole.at(-1 - end))
            end++;
        const [x, y] = [term, whole].map(one => one.slice(from, one.length - end));
        return x.length < 2 && y.length < 2 || x.length === 2 && y === x[1] + x[0];
    });
}
