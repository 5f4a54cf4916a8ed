import { CliError, type SharedOptions } from '@assize/command';

/** All options of `adjudicate`. */
export interface AdjudicateCliOptions extends SharedOptions {
  readonly data: string;
  readonly limit?: number;
  readonly runs?: string;
  readonly tasks?: string;
  readonly expected?: string;
  readonly escalations?: 'reject' | 'approve';
  readonly invariants: boolean;
}

/** The options that only some jobs accept, and whether each was given. */
const GIVEN = {
  '--runs': ({ runs }) => runs !== undefined,
  '--tasks': ({ tasks }) => tasks !== undefined,
  '--expected': ({ expected }) => expected !== undefined,
  '--no-invariants': ({ invariants }) => !invariants,
  '--escalations': ({ escalations }) => escalations !== undefined,
} as const satisfies Record<string, (options: AdjudicateCliOptions) => boolean>;

export type SpecialOption = keyof typeof GIVEN;

/**
 * Rejects options that the job does not use, instead of ignoring them silently.
 *
 * @throws CliError `usage`: names the options that the job does not accept, and those
 * that it accepts
 */
export function requireTaken(
  job: string,
  options: AdjudicateCliOptions,
  taken: readonly SpecialOption[],
): void {
  const names = Object.keys(GIVEN) as SpecialOption[];
  const others = names.filter((name) => !taken.includes(name) && GIVEN[name](options));
  if (others.length === 0) return;
  const all = ['--data', '--limit', ...taken].join(', ');
  throw new CliError(
    'usage',
    `adjudicate ${job} does not accept ${others.join(', ')}. Its options are ${all}.`,
  );
}
