import {
  type AssertOptions,
  CliError,
  describeRefusedLines,
  EXIT,
  factAuthority,
  green,
  INSTANT_HELP,
  inSession,
  type LinesFile,
  line,
  linesTo,
  memoryChangeOf,
  openLines,
  parsedAt,
  positive,
  printRefusedLines,
  type RefusedLines,
  refusedCount,
  requirePredicate,
  type Session,
  STDIN,
  withAssize,
  withFactAuthority,
} from '@assize/command';
import { segment } from 'assize/internal/authority';
import { type AssizeError, isAssizeError } from 'assize/internal/base';
import { type Instant, parseInstant } from 'assize/internal/canon';
import { OPEN_END, OPEN_START } from 'assize/internal/ledger';
import { claimId } from 'assize/internal/memory';
import { systemClock } from 'assize/internal/oracle';
import type { AssertInput, Memory, Ruling, Trajectory } from 'assize/internal/runtime';
import { counted } from 'assize/internal/views';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { type AssertOnce, assertingOnce } from './assert-once.ts';
import { type PendingByName, pendingByName } from './pending-claims.ts';

interface Options extends AssertOptions {
  readonly batch: number;
}

/** Number of lines in one proposal. */
const BATCH_MAX = 200;

const LINE = z.strictObject({
  subject: z.string().min(1).max(512),
  predicate: z.string(),
  object: z.string().max(16_384),
  from: z.string().optional(),
  to: z.string().optional(),
  confidence: z.number().min(0).max(1).optional(),
  source: z.string().max(512).optional(),
});

export function importFacts(command: Command): void {
  withFactAuthority(
    command
      .command('import')
      .description('assert the facts of a JSON Lines file, in batches')
      .argument('<file>', 'JSON Lines file, or - for standard input')
      .argument('<trajectory>', 'trajectory that records the facts')
      .addOption(
        new Option('--batch <n>', `lines of one commit, up to ${BATCH_MAX}`)
          .argParser(positive)
          .default(BATCH_MAX),
      ),
  )
    .addHelpText(
      'after',
      '\nExample:\n  assize memory import letters.jsonl notes --space ward-3 --domain ward.ts --key anchor.key\n\n' +
        'A line is {"subject":…,"predicate":…,"object":…}, with optional "from", "to", "confidence" and "source".\n' +
        'The period value open means no start, or no end. The default source is the hash of the file and the number of the line.\n' +
        'An interrupted import can be repeated, and asserts no fact twice.\n' +
        'The import ends at the first invalid line, names it, and writes nothing of its batch.\n' +
        `${INSTANT_HELP}\n` +
        'A batch is adjudicated as one proposal: if it is rejected or pending, so are all its lines. --batch 1 shows the line\n' +
        'that causes it. A batch that is too large for one entry is halved.\n' +
        'The lines of a batch have no order: any of two contradicting lines may win, unless the strategy of the predicate\n' +
        'decides. With --batch 1, the lines are asserted in order.\n' +
        'A line that loses within its batch records all its contradictions there, so that twice as many contradicting lines\n' +
        'need four times the space. Use a small --batch (say 10) for many such lines.\n' +
        'The import skips committed lines, even if their facts have ended.\n' +
        'It does not submit pending lines again. Concurrent imports with the same batches submit them once.\n' +
        'With --key, the short-lived writ covers the whole space.\n' +
        'Negative: a line was rejected or is pending, or an open approval freezes it and ends the import.',
    )
    .action(
      inSession((session, options: Options, path: string, trajectoryId: string) => {
        if (options.batch > BATCH_MAX)
          throw new CliError(
            'usage',
            `The option --batch is too large. Pass at most ${BATCH_MAX}.`,
          );
        const authority = factAuthority(session, options);
        if (path === STDIN && options.writ === STDIN)
          throw new CliError(
            'usage',
            'Standard input cannot be both the writ and the facts. Pass a file for one of them.',
          );
        const file = openLines(
          path === STDIN ? 0 : path,
          LINE,
          path === STDIN ? 'standard input' : path,
        );
        return session.withStore('existing', async (store) => {
          const { space } = options;
          const writ = await authority(store, trajectoryId, `memory:${segment(space)}:**`);
          const done = await withAssize(store, session.storeUrl, options, async (assize) => {
            const trajectory = await assize.open(trajectoryId);
            const waiting = pendingByName(store, trajectory, (claim) =>
              claim.space === space && claim.source !== undefined
                ? nameOf(space, claim)
                : undefined,
            );
            const memory = (): Memory => trajectory.memory({ space, writ: writ() });
            const wasCommitted = (claim: AssertInput): Promise<boolean> =>
              memory().wasAsserted(claim);
            const sayOnce = await assertingOnce(
              store,
              trajectory,
              (claims, saying) => memory().assertMany(claims, saying),
              async (name) => (await waiting()).has(name),
            );
            return imported(session, file, options, { trajectory, waiting, wasCommitted, sayOnce });
          });
          session.progress.end();
          print(session, done);
          return done.isWhole ? EXIT.ok : EXIT.negative;
        });
      }),
    );
}

interface Done {
  readonly lines: number;
  /** Lines of commits, and the lines that were already asserted, in or before their batch. */
  readonly committed: number;
  readonly commits: number;
  /** Fact versions that hold since. */
  readonly believed: number;
  /** Contradictions with a losing assertion. */
  readonly lost: number;
  readonly others: readonly RefusedLines[];
  readonly isWhole: boolean;
}

async function imported(
  { interruption, progress }: Session,
  file: LinesFile<z.infer<typeof LINE>>,
  { space, batch }: Options,
  {
    trajectory,
    waiting,
    wasCommitted,
    sayOnce,
  }: {
    readonly trajectory: Trajectory;
    readonly waiting: () => Promise<PendingByName>;
    readonly wasCommitted: (claim: AssertInput) => Promise<boolean>;
    readonly sayOnce: AssertOnce;
  },
): Promise<Done> {
  const wasSaid = async ({ name, claim }: ImportedLine): Promise<boolean> =>
    (await waiting()).has(name) || wasCommitted(claim);
  let [committed, commits, believed, lost] = [0, 0, 0, 0];
  const others: RefusedLines[] = [];
  let [first, size] = [1, batch];
  while (first <= file.length) {
    interruption.throwIfAborted();
    const last = Math.min(first + size - 1, file.length);
    const lines = await claimsOf(file, [first, last], { space, trajectory, wasSaid });
    const said = await splitPending(lines, waiting, sayOnce).catch((error: unknown) => {
      // The statements are too long for one proposal.
      if (isAssizeError(error, 'too_large') && lines.length > 1) return undefined;
      throw error;
    });
    if (said === undefined || (isTooMuch(said.ruling) && lines.length > 1)) {
      size = Math.ceil(lines.length / 2);
      continue;
    }
    const { still, anew, ruling } = said;
    others.push(...inStretches(still));
    if (ruling?.ruling === 'committed') {
      commits += 1;
      committed += lines.length - still.length;
      const changed = memoryChangeOf(ruling);
      believed += changed.believed;
      lost += changed.lost;
    } else if (ruling !== undefined) {
      const named = lines.filter(({ name }) => anew.has(name));
      others.push(...inStretches(named.map(({ number }) => ({ lines: [number, number], ruling }))));
    }
    progress.report('lines imported', last, file.length);
    if (ruling?.ruling === 'frozen') break;
    first = last + 1;
  }
  return {
    lines: file.length,
    committed,
    commits,
    believed,
    lost,
    others,
    isWhole: committed === file.length,
  };
}

/** Whether the batch was rejected because no entry can hold it. Half of the batch may fit. */
function isTooMuch(ruling: Ruling | undefined): boolean {
  return ruling?.ruling === 'rejected' && ruling.detail.startsWith('too_much_at_once:');
}

/** The lines of a batch that are already pending, and the outcome of the other lines, if any. */
async function splitPending(
  lines: readonly ImportedLine[],
  waiting: () => Promise<PendingByName>,
  sayOnce: AssertOnce,
): Promise<{
  readonly still: readonly RefusedLines[];
  readonly anew: ReadonlyMap<string, AssertInput>;
  readonly ruling?: Ruling;
}> {
  for (;;) {
    const known = await waiting();
    const still = lines.flatMap(({ name, number }): RefusedLines[] => {
      const ruling = known.get(name);
      return ruling === undefined ? [] : [{ lines: [number, number], ruling, still: true }];
    });
    const anew = new Map(
      lines.filter(({ name }) => !known.has(name)).map(({ name, claim }) => [name, claim]),
    );
    if (anew.size === 0) return { still, anew };
    const ruling = await sayOnce(anew, lines[0]!.number);
    if (ruling !== undefined) return { still, anew, ruling };
  }
}

/** Merges consecutive lines with the same outcome. */
function inStretches(each: readonly RefusedLines[]): RefusedLines[] {
  const stretches: RefusedLines[] = [];
  for (const next of each) {
    const last = stretches.at(-1);
    if (last?.ruling === next.ruling && last.lines[1] + 1 === next.lines[0])
      stretches[stretches.length - 1] = { ...last, lines: [last.lines[0], next.lines[1]] };
    else stretches.push(next);
  }
  return stretches;
}

/** The statement of a line. */
interface ImportedLine {
  readonly number: number;
  /** The statements of one claim. */
  readonly name: string;
  readonly claim: AssertInput;
}

/** The claims that lines are compared with. */
interface Before {
  readonly space: string;
  readonly trajectory: Trajectory;
  /** Whether the claim is pending or committed. Its line is skipped. */
  readonly wasSaid: (said: ImportedLine) => Promise<boolean>;
}

/**
 * The statements of a batch's lines.
 * @throws CliError naming the first invalid line
 */
async function claimsOf(
  file: LinesFile<z.infer<typeof LINE>>,
  [first, last]: readonly [first: number, last: number],
  { space, trajectory, wasSaid }: Before,
): Promise<ImportedLine[]> {
  const said: ImportedLine[] = [];
  for (let number = first; number <= last; number++) {
    let each: ImportedLine;
    try {
      each = claimAt(file, number, space, trajectory);
    } catch (error) {
      throw isAssizeError(error) ? wrongLine(number, first, error) : error;
    }
    if (hasEnded(each.claim) && !(await wasSaid(each)))
      throw wrongLine(number, first, wrong(`${file.at(number)}: ${ENDED}`));
    said.push(each);
  }
  return said;
}

const ENDED = 'the period ends in the past and starts now; add its start as "from"';

/**
 * The error for an invalid line, with the lines written before its batch. The batch starts with the
 * line `first`.
 */
function wrongLine(line: number, first: number, error: AssizeError): CliError {
  const before =
    first === 1 ? 'Nothing was written' : `${linesTo(first - 1)} proposed, and no others`;
  return new CliError('bad_input', `${error.message.replace(/\.$/, '')}. ${before}.`, {
    evidence: { line },
    cause: error,
  });
}

/**
 * Whether the period would end before it starts, at the time of the assertion. An earlier assertion
 * had another time.
 */
function hasEnded({ valid }: AssertInput): boolean {
  return valid?.from === undefined && valid?.to !== undefined && valid.to <= systemClock.now();
}

function claimAt(
  file: LinesFile<z.infer<typeof LINE>>,
  number: number,
  space: string,
  { domain }: Trajectory,
): ImportedLine {
  const said = file.line(number);
  return parsedAt(file.at(number), () => {
    requirePredicate(domain, said.predicate);
    const claim = claimOf(said, `sha256:${file.hash}#${number}`);
    return { number, name: nameOf(space, claim), claim };
  });
}

function claimOf(
  { from, to, ...said }: z.infer<typeof LINE>,
  made: string,
): AssertInput & { source: string } {
  const valid = {
    ...(from !== undefined && { from: from === 'open' ? OPEN_START : instantAt('from', from) }),
    ...(to !== undefined && { to: to === 'open' ? OPEN_END : instantAt('to', to) }),
  };
  for (const name of ['subject', 'predicate'] as const)
    if (said[name] !== said[name].normalize('NFC'))
      throw wrong(`the ${name} is not in Unicode's composed form (NFC)`);
  const { subject, predicate, object, confidence, source = made } = said;
  if (source === '') throw wrong('the source is empty; name it, or omit it');
  return {
    subject,
    predicate,
    object,
    source,
    ...(confidence !== undefined && { confidence }),
    ...(Object.keys(valid).length > 0 && { valid }),
  };
}

/** @throws CliError naming the field, because a line has two of them */
function instantAt(member: 'from' | 'to', text: string): Instant {
  return parsedAt(`/${member}`, () => parseInstant(text));
}

/**
 * A name that is equal for every assertion of one claim. The store's key would yield another name.
 * @throws MemoryError for an invalid claim
 */
function nameOf(space: string, { subject, predicate, object, source, valid }: AssertInput): string {
  const { from = OPEN_START, to = OPEN_END } = valid ?? {};
  return claimId(NO_KEY, {
    space,
    subject,
    predicate,
    object,
    valid: { from: from as Instant, to: to as Instant },
    sourceEventId: source as string,
  });
}

const NO_KEY = new Uint8Array(32);

function wrong(what: string): CliError {
  return new CliError('bad_input', what);
}

function print({ json, out }: Session, { isWhole, others, ...done }: Done): void {
  const rejected = refusedCount(others, 'rejected');
  const pending = refusedCount(others, 'escalated');
  const frozen = refusedCount(others, 'frozen');
  if (json) {
    const { lost, ...counts } = done;
    const refused = others.map(describeRefusedLines);
    out.document({ ...counts, contradictions_lost: lost, rejected, pending, frozen, refused });
    return;
  }
  printRefusedLines(out, others);
  const sum = line`${counted(done.committed, 'line')} of ${done.lines} committed in ${counted(done.commits, 'commit')}, ${counted(done.believed, 'fact')} added${done.lost === 0 ? '' : `, ${done.lost} lost`}`;
  const rest = line`${rejected} rejected, ${pending} pending, ${done.lines - done.committed - rejected - pending} not committed`;
  out.line(isWhole ? green(sum) : line`${sum}; ${rest}`);
}
