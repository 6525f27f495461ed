;; The inner loop of NumPy's matrix product for pages that run. Pyodide's NumPy has no BLAS: its loop multiplies one pair of
;; numbers at a time, with strides, and some lessons spent half of their time in it. This loop copies four columns of the right
;; matrix side by side, 256 terms of the sums at a time, which the fastest cache holds, and keeps four rows by four columns of
;; the result in registers. Each sum has the same order as in NumPy's loop, so the results are equal to the last bit.
;; worker.js puts it in the place of NumPy's, which it calls for what is too narrow to gain. pyodide_bundle.py writes each
;; line that has a number sign four times, with 0 to 3 for the sign.
(module
(import "numpy" "memory" (memory 1))
(import "numpy" "table" (table 1 funcref))
(import "numpy" "scratch" (global $scratch i32))    ;; the address of 8192 bytes, SCRATCH of pyodide_kernel.py
(import "numpy" "loop" (global $theirs i32))
(type $loop (func (param i32 i32 i32 i32)))
(func $least (param $x i32) (param $y i32) (result i32)
  (select (local.get $x) (local.get $y) (i32.lt_s (local.get $x) (local.get $y))))
;; Load or store four numbers of a row; beyond the last column, load the last again, and store nothing.
(func $load2 (param $at i32) (param $step i32) (param $columns i32) (result v128)
  (f64x2.replace_lane 1 (v128.load64_splat (local.get $at))
    (f64.load (i32.add (local.get $at) (i32.mul (local.get $step) (i32.gt_s (local.get $columns) (i32.const 1)))))))
(func $store2 (param $at i32) (param $step i32) (param $columns i32) (param $x v128)
  (if (i32.gt_s (local.get $columns) (i32.const 0)) (then
    (f64.store (local.get $at) (f64x2.extract_lane 0 (local.get $x)))))
  (if (i32.gt_s (local.get $columns) (i32.const 1)) (then
    (f64.store (i32.add (local.get $at) (local.get $step)) (f64x2.extract_lane 1 (local.get $x))))))
(func (export "loop") (param $args i32) (param $sizes i32) (param $steps i32) (param $data i32)
  ;; The left matrix a has m rows and n columns, the right one b n rows and p columns; c is their product. am is the number
  ;; of bytes from a row of a to the next, and as from a matrix of a stack to the next.
  (local $stack i32) (local $m i32) (local $n i32) (local $p i32) (local $a i32) (local $b i32) (local $c i32)
  (local $as i32) (local $bs i32) (local $cs i32) (local $am i32) (local $an i32) (local $bn i32) (local $bp i32)
  (local $cm i32) (local $cp i32) (local $from i32) (local $terms i32) (local $i i32) (local $j i32) (local $k i32)
  (local $to i32) (local $right v128) (local $more v128) (local $two i32)
  (local $a# i32) (local $b# i32) (local $c# i32) (local $f# v128) (local $x# v128) (local $y# v128)
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
  (local.set $two (i32.mul (local.get $cp) (i32.const 2)))
  (block $no_matrix (loop $matrices
    (br_if $no_matrix (i32.eqz (local.get $stack)))
    (local.set $from (i32.const 0))
    (loop $blocks     ;; also once without any term, to write zeros
      (local.set $terms (call $least (i32.const 256) (i32.sub (local.get $n) (local.get $from))))
      (local.set $j (i32.const 0))
      (block $no_column (loop $columns
        (br_if $no_column (i32.ge_s (local.get $j) (local.get $p)))
        (local.set $b# (i32.add (i32.add (local.get $b) (i32.mul (local.get $from) (local.get $bn))) (i32.mul (local.get $bp) (call $least (i32.add (local.get $j) (i32.const #)) (i32.sub (local.get $p) (i32.const 1))))))
        (local.set $k (local.get $terms))
        (local.set $to (global.get $scratch))
        (block $copied (loop $copy
          (br_if $copied (i32.eqz (local.get $k)))
          (f64.store (i32.add (local.get $to) (i32.const 0)) (f64.load (local.get $b0)))
          (f64.store (i32.add (local.get $to) (i32.const 8)) (f64.load (local.get $b1)))
          (f64.store (i32.add (local.get $to) (i32.const 16)) (f64.load (local.get $b2)))
          (f64.store (i32.add (local.get $to) (i32.const 24)) (f64.load (local.get $b3)))
          (local.set $b# (i32.add (local.get $b#) (local.get $bn)))
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
              (local.set $x# (call $load2 (local.get $c#) (local.get $cp) (local.get $k))) (local.set $y# (local.get $x#)) (if (i32.gt_s (local.get $k) (i32.const 2)) (then (local.set $y# (call $load2 (i32.add (local.get $c#) (local.get $two)) (local.get $cp) (i32.sub (local.get $k) (i32.const 2))))))
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
            (local.set $f# (v128.load64_splat (local.get $a#)))
            (local.set $x# (f64x2.add (local.get $x#) (f64x2.mul (local.get $f#) (local.get $right))))
            (local.set $y# (f64x2.add (local.get $y#) (f64x2.mul (local.get $f#) (local.get $more))))
            (local.set $a# (i32.add (local.get $a#) (local.get $an)))
            (local.set $to (i32.add (local.get $to) (i32.const 32)))
            (local.set $k (i32.sub (local.get $k) (i32.const 1)))
            (br $sum)))
          (local.set $k (i32.sub (local.get $p) (local.get $j)))
          (if (i32.lt_s (i32.add (local.get $i) (i32.const #)) (local.get $m)) (then (call $store2 (local.get $c#) (local.get $cp) (local.get $k) (local.get $x#)) (call $store2 (i32.add (local.get $c#) (local.get $two)) (local.get $cp) (i32.sub (local.get $k) (i32.const 2)) (local.get $y#))))
          (local.set $i (i32.add (local.get $i) (i32.const 4)))
          (br $rows)))
        (local.set $j (i32.add (local.get $j) (i32.const 4)))
        (br $columns)))
      (local.set $from (i32.add (local.get $from) (local.get $terms)))
      (br_if $blocks (i32.lt_s (local.get $from) (local.get $n))))
    (local.set $a (i32.add (local.get $a) (local.get $as)))
    (local.set $b (i32.add (local.get $b) (local.get $bs)))
    (local.set $c (i32.add (local.get $c) (local.get $cs)))
    (local.set $stack (i32.sub (local.get $stack) (i32.const 1)))
    (br $matrices)))))
