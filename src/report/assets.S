// Files as they are, between two symbols each. The paths are defined by CMakeLists.txt.
.macro embed symbol, path
    .global \symbol
    .global \symbol\()_end
\symbol:
    .incbin "\path"
\symbol\()_end:
    .byte 0
.endm

    .section .rodata
embed linescope_page_template, LINESCOPE_PAGE_TEMPLATE
embed linescope_page_script, LINESCOPE_PAGE_SCRIPT
embed linescope_page_style, LINESCOPE_PAGE_STYLE

    .section .note.GNU-stack, "", %progbits
