# Sourced by the scripts beside it that compare variants of one configuration: `compare_variants` trains each of them,
# and scores the best epoch on dev, greedily and with a beam of 10. Run again it resumes where it stopped. It reads
#   corpus   what the figures are called by         config    the flags that all variants have
#   data     a folder of run/prepare.sh             dev       the CoNLL-U or AMR file that it was made from
#   out      for checkpoints and figures.txt        epochs, seeds, variants (their order)
#   flags    variant → its further flags            folders   variant → its data folder, where that is another
# Trained in bf16 where the machine has it, scored in fp32; trees with their full labels.
declare -A flags=() folders=()

compare_variants() {
    local variant seed name full_labels=()
    case $dev in *.conllu) full_labels=(--full-labels) ;; esac
    mkdir -p "$out"
    local untagged=$out/dev.${dev##*.}
    untagged "$dev" >"$untagged"
    for seed in "${seeds[@]}"; do
        for variant in "${variants[@]}"; do
            name=$corpus-$variant-$seed
            grep -q "^$name " "$out/figures.txt" 2>/dev/null && continue
            # shellcheck disable=SC2086  # several flags
            bash "$root/run/train.sh" "$config" "${folders[$variant]:-$data}" "$out/$name" ${flags[$variant]} \
                --seed "$seed" --max-epoch "$epochs" \
                --warmup-epochs "$(LC_ALL=C awk "BEGIN { print $epochs / 8 }")" --keep-best-checkpoints 1 >"$out/$name.log"
            for beam in 1 10; do
                parsed=$out/$name.$beam.${dev##*.}
                transition-parser parse "$out/$name/checkpoint_best.pt" "$untagged" --beam $beam --precision fp32 \
                    -o "$parsed"
                echo "$name beam $beam epochs $epochs" \
                    "$(transition-parser score "$dev" "$parsed" --json "${full_labels[@]}")"
            done >"$out/$name.figures"
            cat "$out/$name.figures" >>"$out/figures.txt"
        done
    done
    cat "$out/figures.txt"
}
