module gotrace.test/demo

go 1.19
