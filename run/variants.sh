# Sourced by the scripts beside it that compare variants. `compare_variants` trains each variant, and scores its best
# epoch, greedily and with a beam. Another run resumes where the last one stopped. The function reads these variables:
#   corpus   the first part of names in the figures  config    the flags of all variants
#   data     a folder of run/prepare.sh              golds     its CoNLL-U or AMR files that are scored
#   out      the folder for checkpoints and figures  epochs, seeds, variants (in their order)
#   flags    variant → its further flags             folders   variant → its data folder, where it is not `data`
#   configs  variant → its flags, where they are not `config`
#   beams    by default 1 and 10
#   scoring, mark    from `take_punct`: scores without punctuation go to figures.punct-skip.txt instead
# Training is in bf16 where the machine has it, scoring in fp32; trees are scored with full labels, and by length.
declare -A flags=() folders=() configs=()
beams=(1 10)

compare_variants() {
    local variant seed name gold split suffix input parsed options=()
    check_scoring "${golds[@]}"
    case ${golds[0]} in *.conllu) options=(--full-labels --by-length "${scoring[@]}") ;; esac
    mkdir -p "$out"
    for seed in "${seeds[@]}"; do
        for variant in "${variants[@]}"; do
            name=$corpus-$variant-$seed
            grep -q "^$name " "$out/figures$mark.txt" 2>/dev/null && continue
            # shellcheck disable=SC2086  # the variable holds several flags
            bash "$root/run/train.sh" "${configs[$variant]:-$config}" "${folders[$variant]:-$data}" "$out/$name" \
                ${flags[$variant]} --seed "$seed" --max-epoch "$epochs" \
                --warmup-epochs "$(LC_ALL=C awk "BEGIN { print $epochs / 8 }")" --keep-best-checkpoints 1 >>"$out/$name.log"
            for gold in "${golds[@]}"; do
                input=$(basename "$gold") suffix=${gold##*.}
                split=${input%".$suffix"}
                untagged "$gold" "$out/$name/checkpoint_best.pt" >"$out/$input"
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
