import type { Entry } from '../entries/payloads.ts';

/**
 * Whether an entry may come after another one of its trajectory: '' or the reason, as a sentence.
 */
export function wrongSuccessor(before: Entry, after: Entry): string {
  const { seq, parent, at } = after.payload;
  if (seq <= before.payload.seq)
    return 'It stands after an entry of its trajectory with a greater number.';
  if (at < before.payload.at) return `It is older than the entry ${before.payload.seq}.`;
  const follows = seq === before.payload.seq + 1;
  return follows && parent !== before.id
    ? `Its parent is not the entry ${before.payload.seq}.`
    : '';
}

/** The place of a single entry: '' or the reason, as a sentence. */
export function wrongPlace({ payload: { kind, seq, parent } }: Entry): string {
  const begins = kind === 'root' || kind === 'branch';
  if (begins !== (seq === 0))
    return begins ? 'It begins a trajectory and is not its entry 0.' : 'It begins nothing.';
  return begins === (parent === null) ? '' : 'It has a parent where none is, or none where one is.';
}
