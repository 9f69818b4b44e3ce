# To be sourced: defines a folder, a corpus of letters in it, and options of a model that learns it quickly. Uses $seed.
folder="$(mktemp -d)"
fail() { echo "FAILED (seed $seed): $*"; exit 1; }

for line in $(seq 300); do
  letters=""
  for i in $(seq $((3 + line % 6))); do letters+="$(printf "\\x$(printf %x $((97 + (line * 7 + i * (line % 11 + 1)) % 13)))") "; done
  printf '%s\t%s\n' "$letters" "$letters"
done >"$folder/letters.tsv"

begin=(--corpus "$folder/letters.tsv" --threads 1 --device cpu --pin "a b c"
  --set tokenizer.vocab_size=64 --set model.d_model=16 --set model.num_heads=2 --set model.num_encoder_layers=1
  --set model.num_decoder_layers=1 --set model.d_ff=32 --set model.max_length=24 --set training.batch_size=8
  --set training.warmup_steps=20 --set training.validation_interval=50 --set training.history_interval=20
  --set training.checkpoint_interval=7)
