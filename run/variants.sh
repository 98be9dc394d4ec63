# Sourced by the scripts beside it that compare variants: `compare_variants` trains each of them, and scores the best
# epoch, greedily and with a beam. Run again it resumes where it stopped. It reads
#   corpus   what the figures are called by         config    the flags that all variants have
#   data     a folder of run/prepare.sh             golds     the CoNLL-U or AMR files of it that are scored
#   out      for checkpoints and figures.txt        epochs, seeds, variants (their order)
#   flags    variant → its further flags            folders   variant → its data folder, where that is another
#   configs  variant → its flags, where those are others than `config`
#   beams    by default 1 and 10
#   scoring, mark    of `take_punct`: scores without punctuation go to figures.punct-skip.txt instead
# Trained in bf16 where the machine has it, scored in fp32; trees with their full labels, and by length.
declare -A flags=() folders=() configs=()
beams=(1 10)

compare_variants() {
    local variant seed name gold split suffix input parsed options=()
    check_scoring "${golds[@]}"
    case ${golds[0]} in *.conllu) options=(--full-labels --by-length "${scoring[@]}") ;; esac
    mkdir -p "$out"
    for gold in "${golds[@]}"; do untagged "$gold" >"$out/$(basename "$gold")"; done
    for seed in "${seeds[@]}"; do
        for variant in "${variants[@]}"; do
            name=$corpus-$variant-$seed
            grep -q "^$name " "$out/figures$mark.txt" 2>/dev/null && continue
            # shellcheck disable=SC2086  # several flags
            bash "$root/run/train.sh" "${configs[$variant]:-$config}" "${folders[$variant]:-$data}" "$out/$name" \
                ${flags[$variant]} --seed "$seed" --max-epoch "$epochs" \
                --warmup-epochs "$(LC_ALL=C awk "BEGIN { print $epochs / 8 }")" --keep-best-checkpoints 1 >>"$out/$name.log"
            for gold in "${golds[@]}"; do
                input=$(basename "$gold") suffix=${gold##*.}
                split=${input%".$suffix"}
                for beam in "${beams[@]}"; do
                    parsed=$out/$name.$split.$beam.$suffix
                    transition-parser parse "$out/$name/checkpoint_best.pt" "$out/$input" --beam "$beam" \
                        --precision fp32 -o "$parsed"
                    echo "$name $split beam $beam epochs $epochs" \
                        "$(transition-parser score "$gold" "$parsed" --json "${options[@]}")"
                done
            done >"$out/$name$mark.figures"
            cat "$out/$name$mark.figures" >>"$out/figures$mark.txt"
        done
    done
    cat "$out/figures$mark.txt"
}
