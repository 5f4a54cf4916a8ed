import {
  type AssertOptions,
  beginning,
  CliError,
  EXIT,
  ending,
  factAuthority,
  factRulingDocument,
  factRulingLine,
  INSTANT_HELP,
  inSession,
  requirePredicate,
  share,
  validName,
  withAssize,
  withFactAuthority,
} from '@assize/command';
import { segment } from 'assize/internal/authority';
import type { Instant } from 'assize/internal/canon';
import { period as validPeriod } from 'assize/internal/memory';
import { systemClock } from 'assize/internal/oracle';
import type { Memory, Ruling } from 'assize/internal/runtime';
import { type Command, Option } from 'commander';

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

const object = new Option('--object <text>', 'object of the fact').makeOptionMandatory();
const from = new Option('--from <instant>', 'start of valid time (default: now)').argParser(
  beginning,
);
const to = new Option('--to <instant>', 'end of valid time (default: open)').argParser(ending);
const confidence = new Option('--confidence <n>', 'confidence from 0 to 1 (default: 1)').argParser(
  share,
);
const source = new Option(
  '--source <name>',
  'source of the statement; a repetition from the same source changes nothing',
).argParser(validName);

/** A required period. */
const period = [
  new Option('--from <instant>', 'start of valid time; open: no start')
    .argParser(beginning)
    .makeOptionMandatory(),
  new Option('--to <instant>', 'end of valid time; open: no end')
    .argParser(ending)
    .makeOptionMandatory(),
];

const VERBS: readonly StatementCommand[] = [
  {
    name: 'assert',
    description: 'assert that a fact is valid in a period',
    options: [object, from, to, confidence, source],
    example: '--object penicillin --from 2026-03-01 --source "letter of 2 March"',
    help: 'A contradiction is settled by the strategy that the domain declares for the predicate.',
    say: (memory, options) =>
      memory.assert({
        ...claimIn(options),
        ...(periodIn(options) && { valid: periodIn(options) }),
      } as never),
  },
  {
    name: 'change',
    description: 'record a new object from a date on; earlier facts stay until then',
    options: [object, from, confidence, source],
    example: '--object amoxicillin --from 2026-04-15',
    help: 'A contradiction after the date is settled by the strategy that the domain declares for the predicate.',
    say: (memory, options) =>
      memory.change({ ...claimIn(options), ...(options.from && { from: options.from }) }),
  },
  {
    name: 'correct',
    description: 'replace a wrongly recorded object in a period',
    options: [
      object,
      ...period,
      new Option('--was <object>', 'replace only this object (default: any)'),
      confidence,
      source,
    ],
    example: '--object ibuprofen --from 2026-03-01 --to 2026-04-01',
    help: 'A correction causes no contradiction, and needs no decision.',
    say: (memory, options) =>
      memory.correct({
        ...claimIn(options),
        valid: wholeIn(options),
        ...(options.was !== undefined && { was: options.was }),
      }),
  },
  {
    name: 'retract',
    description: 'end a fact in a period; its history stays',
    options: [new Option('--object <text>', 'retract only this object (default: any)'), ...period],
    example: '--from 2026-03-01 --to open',
    help: 'Earlier facts stay readable with --system.',
    say: (memory, { subject, predicate, object: said, ...options }) =>
      memory.retract({
        subject,
        predicate,
        valid: wholeIn(options),
        ...(said !== undefined && { object: said }),
      }),
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
    .argument('<trajectory>', 'trajectory that records the statement')
    .requiredOption('--subject <name>', 'subject of the fact', validName)
    .requiredOption(
      '--predicate <name>',
      'predicate of the fact, declared by the domain',
      validName,
    );
  for (const option of own) saying.addOption(option);
  withFactAuthority(saying)
    .addHelpText(
      'after',
      `\nExample:\n  assize memory ${name} notes --space ward-3 --subject "patient 7" --predicate takes \\\n` +
        `    ${example} --domain ward.ts --key anchor.key\n\n` +
        `${help}\n${INSTANT_HELP}\n` +
        'Negative: the statement was rejected, is pending, or is frozen by an open approval.',
    )
    .action(
      inSession((session, options: Options, trajectoryId: string) => {
        requirePeriod(options);
        const authority = factAuthority(session, options);
        return session.withStore('existing', async (store) => {
          const { space, predicate } = options;
          // The writ does not name the subject, because the writ stays in the ledger after the
          // erasure of the fact.
          const scope = `memory:${segment(space)}:*:${segment(predicate)}`;
          const writ = await authority(store, trajectoryId, scope);
          const ruling = await withAssize(store, session.storeUrl, options, async (assize) => {
            const trajectory = await assize.open(trajectoryId);
            requirePredicate(trajectory.domain, predicate);
            return say(trajectory.memory({ space, writ: writ() }), options);
          });
          if (session.json) session.out.document(factRulingDocument(ruling));
          else session.out.line(factRulingLine(ruling));
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
    throw new CliError(
      'usage',
      'The period ends in the past and starts now. Pass its start with --from.',
    );
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
  if (begins === undefined || ends === undefined)
    throw new CliError('usage', 'The period is missing. Pass --from and --to.');
  return { from: begins, to: ends };
}
