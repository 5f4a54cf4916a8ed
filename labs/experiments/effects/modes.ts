/** The protection of tool calls from faults (seed 003 §6.1.1, and table 7 for the last mode). */
export type ModeName = 'Tx-Full' | 'CR' | 'No-Frontier' | 'No-Tx' | 'Tx-NoFrontier+Retry';

/** A mode, as what of the runtime it has: the one switch of all experiments. */
export interface Mode {
  readonly name: ModeName;
  /** Calls are of transactions. These are undone where they fail. */
  readonly transactional: boolean;
  /** A transaction waits for transactions with a lower epoch. */
  readonly frontier: boolean;
  /** A failed call is retried. */
  readonly retry: boolean;
  /** The state before the failed call is restored. Effects outside the checkpoint stay. */
  readonly checkpoint: boolean;
}

export const MODES: readonly Mode[] = [
  { name: 'Tx-Full', transactional: true, frontier: true, retry: true, checkpoint: false },
  { name: 'CR', transactional: false, frontier: false, retry: true, checkpoint: true },
  { name: 'No-Frontier', transactional: true, frontier: false, retry: false, checkpoint: false },
  { name: 'No-Tx', transactional: false, frontier: false, retry: false, checkpoint: false },
  {
    name: 'Tx-NoFrontier+Retry',
    transactional: true,
    frontier: false,
    retry: true,
    checkpoint: false,
  },
];

/** @throws TypeError for an unknown name. Only code without types can give one */
export function modeOf(name: ModeName): Mode {
  const mode = MODES.find((each) => each.name === name);
  if (mode === undefined) throw new TypeError(`There is no mode ${name}.`);
  return mode;
}
