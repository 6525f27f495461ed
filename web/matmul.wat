;; The inner loop of NumPy's matrix product for pages that run. Pyodide's NumPy has no BLAS: its loop multiplies one pair of
;; numbers at a time, with strides, and some lessons spent most of their time in it. This loop copies a few columns of the right
;; matrix side by side, 256 terms of the sums at a time, which the fastest cache holds, and keeps four rows of two vectors of
;; the result in registers. Each sum has the same order as in NumPy's loop, so the results are equal to the last bit.
;; worker.js puts it in the place of NumPy's, which it calls for what is too narrow to gain. pyodide_bundle.py makes a module
;; for float64 and one for float32: it replaces each NAME in braces, and writes a line that has a number sign four times,
;; with 0 to 3 for the sign, a line with a percent sign once for each number of a vector, and a line with an at sign once
;; for each number of two vectors.
(module
(import "numpy" "memory" (memory 1))
(import "numpy" "table" (table 1 funcref))
(import "numpy" "scratch" (global $scratch i32))    ;; the address of 8192 bytes, SCRATCH of pyodide_kernel.py
(import "numpy" "loop" (global $theirs i32))
(type $loop (func (param i32 i32 i32 i32)))
(func $least (param $x i32) (param $y i32) (result i32)
  (select (local.get $x) (local.get $y) (i32.lt_s (local.get $x) (local.get $y))))
;; Load or store the numbers of a vector; beyond the last column, load the first again, and store nothing.
(func $gather (param $at i32) (param $step i32) (param $columns i32) (result v128)
  (local $x v128)
  (local.set $x (v128.load{BITS}_splat (local.get $at)))
  (if (i32.gt_s (local.get $columns) (i32.const %)) (then (local.set $x ({VECTOR}.replace_lane % (local.get $x) ({FLOAT}.load (i32.add (local.get $at) (i32.mul (local.get $step) (i32.const %))))))))
  (local.get $x))
(func $scatter (param $at i32) (param $step i32) (param $columns i32) (param $x v128)
  (if (i32.gt_s (local.get $columns) (i32.const %)) (then ({FLOAT}.store (i32.add (local.get $at) (i32.mul (local.get $step) (i32.const %))) ({VECTOR}.extract_lane % (local.get $x)))))
  )
(func (export "loop") (param $args i32) (param $sizes i32) (param $steps i32) (param $data i32)
  ;; The left matrix a has m rows and n columns, the right one b n rows and p columns; c is their product. am is the number
  ;; of bytes from a row of a to the next, and as from a matrix of a stack to the next.
  (local $stack i32) (local $m i32) (local $n i32) (local $p i32) (local $a i32) (local $b i32) (local $c i32)
  (local $as i32) (local $bs i32) (local $cs i32) (local $am i32) (local $an i32) (local $bn i32) (local $bp i32)
  (local $cm i32) (local $cp i32) (local $from i32) (local $terms i32) (local $i i32) (local $j i32) (local $k i32)
  (local $to i32) (local $right v128) (local $more v128) (local $second i32)
  (local $b@ i32)
  (local $a# i32) (local $c# i32) (local $f# v128) (local $x# v128) (local $y# v128)
  (local.set $stack (i32.load offset=0 (local.get $sizes)))
  (local.set $m (i32.load offset=4 (local.get $sizes)))
  (local.set $n (i32.load offset=8 (local.get $sizes)))
  (local.set $p (i32.load offset=12 (local.get $sizes)))
  (if (i32.lt_s (call $least (local.get $m) (local.get $p)) (i32.const 3)) (then
    (call_indirect (type $loop) (local.get $args) (local.get $sizes) (local.get $steps) (local.get $data) (global.get $theirs))
    (return)))
  (local.set $a (i32.load offset=0 (local.get $args)))
  (local.set $b (i32.load offset=4 (local.get $args)))
  (local.set $c (i32.load offset=8 (local.get $args)))
  (local.set $as (i32.load offset=0 (local.get $steps)))
  (local.set $bs (i32.load offset=4 (local.get $steps)))
  (local.set $cs (i32.load offset=8 (local.get $steps)))
  (local.set $am (i32.load offset=12 (local.get $steps)))
  (local.set $an (i32.load offset=16 (local.get $steps)))
  (local.set $bn (i32.load offset=20 (local.get $steps)))
  (local.set $bp (i32.load offset=24 (local.get $steps)))
  (local.set $cm (i32.load offset=28 (local.get $steps)))
  (local.set $cp (i32.load offset=32 (local.get $steps)))
  (local.set $second (i32.mul (local.get $cp) (i32.const {LANES})))     ;; from a vector to the next
  (block $no_matrix (loop $matrices
    (br_if $no_matrix (i32.eqz (local.get $stack)))
    (local.set $from (i32.const 0))
    (loop $blocks     ;; also once without any term, to write zeros
      (local.set $terms (call $least (i32.const 256) (i32.sub (local.get $n) (local.get $from))))
      (local.set $j (i32.const 0))
      (block $no_column (loop $columns
        (br_if $no_column (i32.ge_s (local.get $j) (local.get $p)))
        (local.set $b@ (i32.add (i32.add (local.get $b) (i32.mul (local.get $from) (local.get $bn))) (i32.mul (local.get $bp) (call $least (i32.add (local.get $j) (i32.const @)) (i32.sub (local.get $p) (i32.const 1))))))
        (local.set $k (local.get $terms))
        (local.set $to (global.get $scratch))
        (block $copied (loop $copy
          (br_if $copied (i32.eqz (local.get $k)))
          ({FLOAT}.store (i32.add (local.get $to) (i32.mul (i32.const @) (i32.const {SIZE}))) ({FLOAT}.load (local.get $b@)))
          (local.set $b@ (i32.add (local.get $b@) (local.get $bn)))
          (local.set $to (i32.add (local.get $to) (i32.const 32)))
          (local.set $k (i32.sub (local.get $k) (i32.const 1)))
          (br $copy)))
        (local.set $i (i32.const 0))
        (block $no_row (loop $rows
          (br_if $no_row (i32.ge_s (local.get $i) (local.get $m)))
          ;; Rows beyond the last are the last again: computed, and not stored.
          (local.set $k (call $least (i32.add (local.get $i) (i32.const #)) (i32.sub (local.get $m) (i32.const 1)))) (local.set $a# (i32.add (i32.add (local.get $a) (i32.mul (local.get $from) (local.get $an))) (i32.mul (local.get $k) (local.get $am)))) (local.set $c# (i32.add (i32.add (local.get $c) (i32.mul (local.get $j) (local.get $cp))) (i32.mul (local.get $k) (local.get $cm))))
          (local.set $k (i32.sub (local.get $p) (local.get $j)))
          (if (local.get $from)
            (then     ;; go on with the sums of the terms before
              (local.set $x# (call $gather (local.get $c#) (local.get $cp) (local.get $k))) (local.set $y# (local.get $x#)) (if (i32.gt_s (local.get $k) (i32.const {LANES})) (then (local.set $y# (call $gather (i32.add (local.get $c#) (local.get $second)) (local.get $cp) (i32.sub (local.get $k) (i32.const {LANES}))))))
            )
            (else
              (local.set $x# (v128.const i64x2 0 0)) (local.set $y# (v128.const i64x2 0 0))
            ))
          (local.set $k (local.get $terms))
          (local.set $to (global.get $scratch))
          (block $summed (loop $sum
            (br_if $summed (i32.eqz (local.get $k)))
            (local.set $right (v128.load (local.get $to)))
            (local.set $more (v128.load offset=16 (local.get $to)))
            (local.set $f# (v128.load{BITS}_splat (local.get $a#)))
            (local.set $x# ({VECTOR}.add (local.get $x#) ({VECTOR}.mul (local.get $f#) (local.get $right))))
            (local.set $y# ({VECTOR}.add (local.get $y#) ({VECTOR}.mul (local.get $f#) (local.get $more))))
            (local.set $a# (i32.add (local.get $a#) (local.get $an)))
            (local.set $to (i32.add (local.get $to) (i32.const 32)))
            (local.set $k (i32.sub (local.get $k) (i32.const 1)))
            (br $sum)))
          (local.set $k (i32.sub (local.get $p) (local.get $j)))
          (if (i32.lt_s (i32.add (local.get $i) (i32.const #)) (local.get $m)) (then (call $scatter (local.get $c#) (local.get $cp) (local.get $k) (local.get $x#)) (call $scatter (i32.add (local.get $c#) (local.get $second)) (local.get $cp) (i32.sub (local.get $k) (i32.const {LANES})) (local.get $y#))))
          (local.set $i (i32.add (local.get $i) (i32.const 4)))
          (br $rows)))
        (local.set $j (i32.add (local.get $j) (i32.const {COLUMNS})))
        (br $columns)))
      (local.set $from (i32.add (local.get $from) (local.get $terms)))
      (br_if $blocks (i32.lt_s (local.get $from) (local.get $n))))
    (local.set $a (i32.add (local.get $a) (local.get $as)))
    (local.set $b (i32.add (local.get $b) (local.get $bs)))
    (local.set $c (i32.add (local.get $c) (local.get $cs)))
    (local.set $stack (i32.sub (local.get $stack) (i32.const 1)))
    (br $matrices)))))
