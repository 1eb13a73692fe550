module gotrace.test/bench

go 1.22
