create procedure plus_one(n int) returning int;
    define m int;
    let m = n + 1;
    return m;
end procedure;
