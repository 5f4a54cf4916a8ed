import { type Command, Option } from 'commander';
import { segment } from '#authority';
import type { Instant } from '#canon';
import { period as validPeriod } from '#memory';
import { systemClock } from '#oracle';
import type { Memory, Ruling } from '#runtime';
import { CliError, EXIT } from '../../errors.ts';
import { share, withSharedOptions } from '../../files/options.ts';
import { beginning, ending, INSTANT_HELP } from '../../input/periods.ts';
import { openAssize } from '../../store/runtime.ts';
import { inSession } from '../../store/session.ts';
import {
  type AssertOptions,
  authorityIn,
  describedRuling,
  requirePredicate,
  rulingLine,
  validName,
  withAuthority,
} from '../assert-memory.ts';

interface Options extends AssertOptions {
  readonly subject: string;
  readonly predicate: string;
  readonly object?: string;
  readonly from?: Instant;
  readonly to?: Instant;
  readonly confidence?: number;
  readonly source?: string;
  readonly was?: string;
}

interface StatementCommand {
  readonly name: 'assert' | 'change' | 'correct' | 'retract';
  readonly description: string;
  readonly options: readonly Option[];
  readonly example: string;
  readonly help: string;
  readonly say: (memory: Memory, options: Options) => Promise<Ruling>;
}

const object = new Option('--object <text>', 'what is said of it').makeOptionMandatory();
const from = new Option('--from <instant>', 'from when on it is so (default: now)').argParser(beginning);
const to = new Option('--to <instant>', 'until when (default: without an end)').argParser(ending);
const confidence = new Option('--confidence <n>', 'from 0 to 1 (default: 1)').argParser(share);
const source = new Option(
  '--source <name>',
  'where it was heard: the same from the same source is said once',
).argParser(validName);

/** A required period. */
const period = [
  new Option('--from <instant>', 'from when on; open: always').argParser(beginning).makeOptionMandatory(),
  new Option('--to <instant>', 'until when; open: without an end').argParser(ending).makeOptionMandatory(),
];

const VERBS: readonly StatementCommand[] = [
  {
    name: 'assert',
    description: 'say that something is so, in a period',
    options: [object, from, to, confidence, source],
    example: '--object penicillin --from 2026-03-01 --source "letter of 2 March"',
    help: 'What contradicts it is settled as the predicate declares in the domain.',
    say: (memory, options) =>
      memory.assert({ ...claimIn(options), ...(periodIn(options) && { valid: periodIn(options) }) } as never),
  },
  {
    name: 'change',
    description: 'say that from then on it is so; until then what was believed stays so',
    options: [object, from, confidence, source],
    example: '--object amoxicillin --from 2026-04-15',
    help: 'What contradicts it from then on is settled as the predicate declares in the domain.',
    say: (memory, options) => memory.change({ ...claimIn(options), ...(options.from && { from: options.from }) }),
  },
  {
    name: 'correct',
    description: 'say that in that period it was recorded wrongly, and how it was',
    options: [object, ...period, new Option('--was <object>', 'only where this was recorded'), confidence, source],
    example: '--object ibuprofen --from 2026-03-01 --to 2026-04-01',
    help: 'Nothing contradicts a correction, and nobody is asked.',
    say: (memory, options) =>
      memory.correct({
        ...claimIn(options),
        valid: wholeIn(options),
        ...(options.was !== undefined && { was: options.was }),
      }),
  },
  {
    name: 'retract',
    description: 'say that in that period it is not believed; it remains as of before',
    options: [new Option('--object <text>', 'only where this is believed (default: whatever is)'), ...period],
    example: '--from 2026-03-01 --to open',
    help: 'What was believed before stays readable with --system.',
    say: (memory, { subject, predicate, object: said, ...options }) =>
      memory.retract({ subject, predicate, valid: wholeIn(options), ...(said !== undefined && { object: said }) }),
  },
];

export function registerStatements(command: Command): void {
  for (const verb of VERBS) registerStatement(command, verb);
}

function registerStatement(
  command: Command,
  { name, description, options: own, example, help, say }: StatementCommand,
): void {
  const saying = command
    .command(name)
    .description(description)
    .argument('<trajectory>', 'where it is recorded')
    .requiredOption('--subject <name>', 'of whom or what', validName)
    .requiredOption('--predicate <name>', 'one that the domain declares in its memory', validName);
  for (const option of own) saying.addOption(option);
  withSharedOptions(withAuthority(saying))
    .addHelpText(
      'after',
      `\nExample:\n  assize memory ${name} notes --space ward-3 --subject "patient 7" --predicate takes \\\n` +
        `    ${example} --domain ward.ts --key anchor.key\n\n` +
        `${help}\n${INSTANT_HELP}\n` +
        'Negative: it was rejected, waits for somebody to choose, or an open approval freezes it.',
    )
    .action(
      inSession((session, options: Options, trajectoryId: string) => {
        requirePeriod(options);
        const authority = authorityIn(session, options);
        return session.withStore('existing', async (store) => {
          const { space, predicate } = options;
          // The writ does not name the subject, because the writ stays in the ledger after the
          // erasure of the fact.
          const scope = `memory:${segment(space)}:*:${segment(predicate)}`;
          const { writ } = await authority(store, trajectoryId, scope);
          const assize = await openAssize(store, session.storeUrl, options);
          const trajectory = await assize.open(trajectoryId);
          requirePredicate(trajectory.domain, predicate);
          const ruling = await say(trajectory.memory({ space, writ: writ() }), options);
          await assize.close();
          if (session.json) session.out.document(describedRuling(ruling));
          else session.out.line(rulingLine(ruling));
          return ruling.ruling === 'committed' ? EXIT.ok : EXIT.negative;
        });
      }),
    );
}

/**
 * Checked before the proposal, because an invalid period would be a recorded rejection.
 * @throws CliError, MemoryError
 */
function requirePeriod({ from: begins, to: ends }: Options): void {
  if (ends === undefined) return;
  if (begins === undefined && ends <= systemClock.now())
    throw new CliError('usage', 'It ends in the past, and begins now; say with --from since when it was so.');
  if (begins !== undefined) validPeriod(begins, ends);
}

function claimIn({ subject, predicate, object: said, confidence: sure, source: heard }: Options) {
  return {
    subject,
    predicate,
    object: said as string,
    ...(sure !== undefined && { confidence: sure }),
    ...(heard !== undefined && { source: heard }),
  };
}

function periodIn({ from: begins, to: ends }: Options) {
  if (begins === undefined && ends === undefined) return undefined;
  return { ...(begins !== undefined && { from: begins }), ...(ends !== undefined && { to: ends }) };
}

function wholeIn({ from: begins, to: ends }: Pick<Options, 'from' | 'to'>) {
  if (begins === undefined || ends === undefined) throw new CliError('usage', 'Say with --from and --to of when.');
  return { from: begins, to: ends };
}
