/**
 * The exit codes of all commands. `negative`: the command worked, and its answer is no, as for a
 * rejected proposal or an invalid ledger.
 */
export const EXIT = { ok: 0, negative: 1, misuse: 2, lostStore: 3 } as const;

export type ExitCode = number;
