# One line each; the work is in xtask/ (`cargo xtask help`). setup.sh installs what is missing on Debian.
export PATH := $(HOME)/.cargo/bin:$(PATH)
.PHONY: run test test-all bench doc dist dist-all install package
run:      ; @sh xtask/setup.sh build && cargo run --release -p boxscore -- run --quick
test:     ; @sh xtask/setup.sh test && cargo xtask ci
test-all: ; @sh xtask/setup.sh dist-all && cargo xtask test-all
install:  ; @sh xtask/setup.sh build && cargo xtask install $(if $(PREFIX),--prefix $(PREFIX))
package:  ; @sh xtask/setup.sh dist && cargo xtask package
bench:    ; @sh xtask/setup.sh bench && cargo xtask perf
doc:      ; @sh xtask/setup.sh build && cargo doc --workspace --no-deps --document-private-items
dist:     ; @sh xtask/setup.sh dist && cargo xtask dist
dist-all: ; @sh xtask/setup.sh dist-all && cargo xtask dist-all
