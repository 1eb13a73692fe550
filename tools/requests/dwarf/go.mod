module dwarf

go 1.22
