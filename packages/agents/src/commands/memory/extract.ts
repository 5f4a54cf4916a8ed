import {
  type AssertOptions,
  CliError,
  count,
  describeRefusedLines,
  EXIT,
  factAuthority,
  green,
  INSTANT_HELP,
  inSession,
  instantOrDay,
  type LinesFile,
  line,
  linesTo,
  memoryChangeOf,
  openLines,
  parsedAt,
  periodText,
  positive,
  printRefusedLines,
  type RefusedLines,
  repeatable,
  type Session,
  STDIN,
  share,
  type WritOf,
  withAssize,
  withFactAuthority,
  yellow,
} from '@assize/command';
import { segment } from 'assize/internal/authority';
import { isAssizeError, isInstance } from 'assize/internal/base';
import { type Instant, parseInstant } from 'assize/internal/canon';
import { OPEN_END, OPEN_START } from 'assize/internal/ledger';
import { createOracle, systemClock } from 'assize/internal/oracle';
import type { Trajectory } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { counted } from 'assize/internal/views';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import {
  type ExtractedClaim,
  type Extraction,
  type ExtractionTerms,
  extractFacts,
  type Message,
} from '#agents';
import { loadModel } from './model.ts';

interface Options extends AssertOptions {
  readonly model: string;
  readonly subject: readonly string[];
  readonly authors?: boolean;
  readonly anySubject?: boolean;
  readonly reference?: Instant;
  readonly confidenceMax?: number;
  readonly batch: number;
  readonly sample: number;
  readonly dryRun?: boolean;
}

const BATCH = 20;
const BATCH_MAX = 200;

const LINE = z.strictObject({
  author: z.string(),
  text: z.string(),
  at: z.string().optional(),
  id: z.string().optional(),
});

export function extract(command: Command): void {
  withFactAuthority(
    command
      .command('extract')
      .description('assert the facts that a model finds in messages')
      .argument('<file>', 'messages as JSON Lines, or - for standard input')
      .argument('<trajectory>', 'trajectory that records the facts')
      .requiredOption(
        '--model <file>',
        'module that exports a function model: from a prompt to its answer',
      )
      .addOption(repeatable('--subject <name>', 'allowed subject of a fact'))
      .option('--authors', 'or allow the author of each message')
      .option('--any-subject', 'or allow any subject')
      .addOption(
        new Option(
          '--reference <instant>',
          'time of messages without "at" (default: none)',
        ).argParser(instantOrDay),
      )
      .addOption(
        new Option(
          '--confidence-max <n>',
          'maximum confidence, from 0 to 1 (default: 1)',
        ).argParser(share),
      )
      .addOption(
        new Option('--batch <n>', `messages of one prompt, up to ${BATCH_MAX}`)
          .argParser(positive)
          .default(BATCH),
      )
      .addOption(
        new Option('--sample <n>', 'number of the sample; another number requests new answers')
          .argParser(count)
          .default(0),
      )
      .option('--dry-run', 'list the facts, and assert nothing'),
  )
    .addHelpText(
      'after',
      '\nExample:\n  assize memory extract mails.jsonl notes --space ward-3 --authors --model model.ts --domain ward.ts --key anchor.key\n\n' +
        'A line is {"author":…,"text":…}, with optional "at", the time of writing, and "id", the source of its facts.\n' +
        'The default id is the hash of the file and the number of the line.\n' +
        'The function model receives a prompt and a JSON Schema, and returns JSON or a text that contains it.\n' +
        'An exported theta identifies the model, as { model_version: "1" }.\n' +
        'The oracle log of the store records each answer. The same messages call no model again, also after --dry-run,\n' +
        'and assert no fact twice.\n' +
        'An answer is valid if it has only declared predicates and allowed subjects. After three answers, the valid facts\n' +
        'are used and the others left out; without a valid fact the command ends with an error.\n' +
        `${INSTANT_HELP}\n` +
        'Facts that may need an answer are proposed apart from the others of their batch. With --key, the short-lived\n' +
        'writ covers the whole space.\n' +
        'Negative: a fact was left out, rejected or is pending, or an open approval freezes it and ends the command.',
    )
    .action(
      inSession(async (session, options: Options, path: string, trajectoryId: string) => {
        if (options.batch > BATCH_MAX)
          throw new CliError(
            'usage',
            `The option --batch is too large. Pass at most ${BATCH_MAX}.`,
          );
        if (path === STDIN && options.writ === STDIN)
          throw new CliError(
            'usage',
            'Standard input cannot be both the writ and the messages. Pass a file for one of them.',
          );
        const subjects = subjectsOf(options);
        const authority = options.dryRun === true ? undefined : factAuthority(session, options);
        const model = await loadModel(options.model);
        const file = openLines(
          path === STDIN ? 0 : path,
          LINE,
          path === STDIN ? 'standard input' : path,
        );
        return session.withStore('existing', async (store) => {
          const done = await withAssize(store, session.storeUrl, options, async (assize) => {
            const trajectory = await assize.open(trajectoryId);
            const writ = await authority?.(
              store,
              trajectoryId,
              `memory:${segment(options.space)}:**`,
            );
            const terms = { ...model, ...termsOf(options, trajectory), subjects };
            return extracted(session, file, options, { store, trajectory, terms, writ });
          });
          session.progress.end();
          print(session, done, options.dryRun === true);
          return done.others.length + done.leftOut.length === 0 ? EXIT.ok : EXIT.negative;
        });
      }),
    );
}

interface Reading {
  readonly store: Store;
  readonly trajectory: Trajectory;
  readonly terms: ExtractionTerms;
  /** Null if nothing is asserted. */
  readonly writ: WritOf | undefined;
}

interface Done {
  readonly messages: number;
  /** Number of answers that were requested, or found in the log. */
  readonly answers: number;
  readonly claims: readonly ExtractedClaim[];
  readonly commits: number;
  /** Fact versions that hold since. */
  readonly believed: number;
  readonly others: readonly RefusedLines[];
  readonly leftOut: readonly LeftOut[];
}

/** A fact of the model that was not proposed, and the lines that its prompt had. */
interface LeftOut {
  readonly lines: readonly [first: number, last: number];
  /** Its position in the model's answer, from 0. */
  readonly fact: number;
  readonly why: string;
}

async function extracted(
  { interruption, progress }: Session,
  file: LinesFile<z.infer<typeof LINE>>,
  { batch, sample, space }: Options,
  { store, trajectory, terms, writ }: Reading,
): Promise<Done> {
  const oracle = createOracle({ store, clock: systemClock, mode: 'record' });
  let [answers, commits, believed] = [0, 0, 0];
  const claims: ExtractedClaim[] = [];
  const others: RefusedLines[] = [];
  const leftOut: LeftOut[] = [];
  for (let first = 1; first <= file.length; first += batch) {
    interruption.throwIfAborted();
    if (first > 1) progress.report('messages read', first - 1, file.length);
    const last = Math.min(first + batch - 1, file.length);
    const found = await naming(file, first, () =>
      extractFacts(messagesOf(file, first, last), {
        ...terms,
        oracle,
        trajectory: trajectory.id,
        sample,
      }),
    );
    answers += found.attempts;
    claims.push(...found.claims);
    leftOut.push(...found.leftOut.map((each): LeftOut => ({ lines: [first, last], ...each })));
    if (writ === undefined || found.claims.length === 0) continue;
    const { observations } = found;
    const memory = trajectory.memory({ space, writ: writ() });
    const { rulings } = await memory.assertEach(found.claims, { observations });
    for (const { ruling } of rulings) {
      if (ruling.ruling === 'committed') {
        commits += 1;
        believed += memoryChangeOf(ruling).believed;
      } else others.push({ lines: [first, last], ruling });
    }
    if (rulings.some(({ ruling }) => ruling.ruling === 'frozen')) break;
  }
  return { messages: file.length, answers, claims, commits, believed, others, leftOut };
}

function messagesOf(file: LinesFile<z.infer<typeof LINE>>, first: number, last: number): Message[] {
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const number = first + i;
    const { author, text, at, id = `sha256:${file.hash}#${number}` } = file.line(number);
    return parsedAt(file.at(number), () => ({
      id,
      author,
      text,
      ...(at !== undefined && { at: parseInstant(at) }),
    }));
  });
}

/**
 * @throws CliError naming the invalid line, or the first line of the batch, and the lines asserted
 * before it
 */
async function naming(
  file: LinesFile<z.infer<typeof LINE>>,
  first: number,
  read: () => Promise<Extraction>,
): Promise<Extraction> {
  try {
    return await read();
  } catch (error) {
    if (!isAssizeError(error) || error.code === 'damaged') throw error;
    const { message } = error.evidence as { readonly message?: number };
    const place = isInstance(error, CliError) ? '' : `${file.at(first + (message ?? 0))}: `;
    const before =
      first === 1 ? 'No fact was asserted' : `${linesTo(first - 1)} read, and no others`;
    throw new CliError('bad_input', `${place}${error.message.replace(/\.$/, '')}. ${before}.`, {
      cause: error,
      evidence: error.evidence,
    });
  }
}

function termsOf(
  { reference, confidenceMax }: Options,
  { domain: { name, memory } }: Trajectory,
): Omit<ExtractionTerms, 'model' | 'subjects'> {
  if (memory === undefined)
    throw new CliError(
      'bad_input',
      `The domain ${name} declares no memory. Name a trajectory of another domain.`,
    );
  return {
    predicates: memory.predicates,
    ...(reference !== undefined && { reference }),
    ...(confidenceMax !== undefined && { confidenceMax }),
  };
}

function subjectsOf({ subject, authors, anySubject }: Options): ExtractionTerms['subjects'] {
  const given = [subject.length > 0, authors === true, anySubject === true];
  if (given.filter(Boolean).length !== 1)
    throw new CliError(
      'usage',
      'The allowed subjects are missing or ambiguous. Pass one of --subject NAME, --authors and --any-subject.',
    );
  if (authors === true) return 'author';
  return anySubject === true ? 'any' : subject;
}

function print({ json, out }: Session, { others, ...done }: Done, isDry: boolean): void {
  const { messages, answers, claims, commits, believed, leftOut } = done;
  if (json) {
    const { leftOut: _, ...counts } = done;
    const left_out = leftOut.map(({ lines: [from, to], ...each }) => ({
      lines: { from, to },
      ...each,
    }));
    out.document({
      ...counts,
      dry_run: isDry,
      refused: others.map(describeRefusedLines),
      left_out,
    });
    return;
  }
  if (isDry && claims.length > 0) printClaims(out, claims);
  printRefusedLines(out, others);
  for (const {
    lines: [from, to],
    why,
  } of leftOut)
    out.line(line`lines ${from} to ${to} ${yellow('left out')} a fact of the model: ${why}`);
  const read = line`${counted(messages, 'message')} read in ${counted(answers, 'answer')}, ${counted(claims.length, 'fact')} found`;
  if (isDry) out.line(line`${read}; no fact asserted`);
  else {
    const sum = line`${read}: ${counted(commits, 'commit')}, ${counted(believed, 'fact')} added`;
    out.line(others.length + leftOut.length === 0 ? green(sum) : sum);
  }
}

function printClaims(out: Session['out'], claims: readonly ExtractedClaim[]): void {
  out.table(
    [
      { title: 'subject' },
      { title: 'predicate' },
      { title: 'object' },
      { title: 'confidence', align: 'right' },
      { title: 'valid' },
      { title: 'source' },
    ],
    claims.map(
      ({
        subject,
        predicate,
        object,
        confidence,
        valid: { from = OPEN_START, to = OPEN_END },
        source,
      }) => [subject, predicate, object, confidence, periodText(from, to), source],
    ),
  );
}
