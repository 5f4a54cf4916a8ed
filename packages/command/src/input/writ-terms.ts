import type { Instant } from 'assize/internal/canon';
import { systemRandom } from 'assize/internal/oracle';
import { type Command, Option } from 'commander';
import { CliError } from '../errors.ts';
import { count, repeatable } from '../files/options.ts';
import { instantOrDay } from './periods.ts';

/** The typed terms of a root or child writ. Each command decides on absent terms. */
export interface TermOptions {
  readonly subject?: string;
  readonly trajectory?: string;
  readonly action: readonly string[];
  readonly scope: readonly string[];
  readonly budget: readonly string[];
  readonly notBefore?: Instant;
  readonly expires?: Instant;
  readonly maxDepth?: number;
  readonly requireApproval: readonly string[];
  readonly nonce?: string;
}

export interface Terms {
  readonly subject?: string;
  readonly trajectory?: string;
  readonly actions?: readonly string[];
  readonly scopes?: readonly string[];
  readonly budget?: Readonly<Record<string, number>>;
  readonly not_before?: Instant;
  readonly expires?: Instant;
  readonly max_depth?: number;
  readonly require_approval?: readonly string[];
  readonly nonce?: string;
}

export function withTerms(command: Command, absent: string): Command {
  return command
    .option(
      '--subject <principal>',
      'holder of the writ: a public key (it can delegate the writ), or any name',
    )
    .option('--trajectory <name>', `the only trajectory in which it is valid (default: ${absent})`)
    .addOption(repeatable('--action <pattern>', 'granted action, such as spend or book:*'))
    .addOption(
      repeatable('--scope <pattern>', 'granted resource, such as role:spender:ann or fs:/repo/**'),
    )
    .addOption(repeatable('--budget <unit=amount>', 'total budget, such as calls=10'))
    .option(
      '--not-before <instant>',
      `start of its validity (default: ${absent === 'any' ? 'now' : absent})`,
      instantOrDay,
    )
    .option(
      '--expires <instant>',
      'end of its validity; a day such as 2027-12-31 ends it at the start of that day, UTC',
      instantOrDay,
    )
    .option('--max-depth <levels>', 'maximum levels of descendants, 0 to 8', count)
    .addOption(repeatable('--require-approval <pattern>', 'action that a human must approve'))
    .option('--nonce <text>', 'value that distinguishes equal grants (default: random)');
}

/**
 * Only the given terms.
 * @throws CliError
 */
export function termsOf(options: TermOptions): Terms {
  const {
    subject,
    trajectory,
    action,
    scope,
    notBefore,
    expires,
    maxDepth,
    requireApproval,
    nonce,
  } = options;
  const terms = {
    subject,
    trajectory,
    actions: listed(action),
    scopes: listed(scope),
    budget: options.budget.length === 0 ? undefined : budgetOf(options.budget),
    not_before: notBefore,
    expires,
    max_depth: maxDepth,
    require_approval: listed(requireApproval),
    nonce,
  };
  return Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== undefined));
}

export function newNonce(): string {
  return Buffer.from(systemRandom.bytes(16)).toString('hex');
}

export const atOption: Option = new Option(
  '--at <instant>',
  'time of the check, or a day (default: now)',
).argParser(instantOrDay);

function listed(values: readonly string[]): readonly string[] | undefined {
  return values.length === 0 ? undefined : values;
}

function budgetOf(given: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    given.map((text) => {
      const [, unit, amount] = /^(.+)=(\d+)$/.exec(text) ?? [];
      if (unit === undefined || !Number.isSafeInteger(Number(amount)))
        throw new CliError(
          'usage',
          `'${text}' is not a budget. Write UNIT=AMOUNT with a whole number, such as calls=10.`,
        );
      return [unit, Number(amount)];
    }),
  );
}
