import { type Command, Option } from 'commander';
import { z } from 'zod';
import { type ExtractedClaim, type Extraction, type ExtractionTerms, extractFacts, type Message } from '#agents';
import { segment } from '#authority';
import { isAssizeError } from '#base';
import type { Instant } from '#canon';
import { OPEN_END } from '#ledger';
import { createOracle, systemClock } from '#oracle';
import type { Trajectory } from '#runtime';
import type { Store } from '#stores';
import { CliError, EXIT } from '../../errors.ts';
import { type LinesFile, linesTo, openLines } from '../../files/input-file.ts';
import { count, positive, repeatable, share, withSharedOptions } from '../../files/options.ts';
import { INSTANT_HELP, instantOf, instantOrDay, periodText } from '../../input/periods.ts';
import { STDIN } from '../../input/writ-file.ts';
import { describeRefusedLines, printRefusedLines, type RefusedLines } from '../../render/refused-lines.ts';
import { loadModel } from '../../store/model.ts';
import { openAssize } from '../../store/runtime.ts';
import { inSession, type Session } from '../../store/session.ts';
import { counted } from '../../terminal/counted.ts';
import { green, line } from '../../terminal/printable.ts';
import { type AssertOptions, type Authority, authorityIn, memoryChangeOf, withAuthority } from '../assert-memory.ts';

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
  withSharedOptions(
    withAuthority(
      command
        .command('extract')
        .description('assert what a model finds stated in messages')
        .argument('<file>', 'messages, as JSON Lines; or - for standard input')
        .argument('<trajectory>', 'where it is recorded')
        .requiredOption('--model <file>', 'a module that exports a function model: from a prompt to its answer')
        .addOption(repeatable('--subject <name>', 'of whom something may be said'))
        .option('--authors', 'or of the author of each message, by their name')
        .option('--any-subject', 'or of anybody')
        .addOption(
          new Option('--reference <instant>', 'when messages were written that do not say it').argParser(instantOrDay),
        )
        .addOption(
          new Option('--confidence-max <n>', 'nothing counts as surer, from 0 to 1 (default: 1)').argParser(share),
        )
        .addOption(
          new Option('--batch <n>', `messages that are read at once, up to ${BATCH_MAX}`)
            .argParser(positive)
            .default(BATCH),
        )
        .addOption(new Option('--sample <n>', 'another number is asked anew').argParser(count).default(0))
        .option('--dry-run', 'show what would be said, and say nothing'),
    ),
  )
    .addHelpText(
      'after',
      '\nExample:\n  assize memory extract mails.jsonl notes --space ward-3 --authors --model model.ts --domain ward.ts --key anchor.key\n\n' +
        'A line is {"author":…,"text":…} and may have "at", when it was written, and "id", which is the source of what is said because of\n' +
        'it; without one it is the file’s hash and the line’s number. The module’s model is given a prompt and a JSON Schema, and answers\n' +
        'with JSON or a text that has it; a theta beside it says which model it is, as { model_version: "1" }.\n' +
        'Each answer is recorded in the store’s oracle log: the same messages ask nobody, also after --dry-run, and say nothing twice.\n' +
        'It counts where it is of declared predicates and of subjects that may be spoken of; else the model is asked anew, three times\n' +
        'at most, and then it ends with an error that says what is wrong.\n' +
        `${INSTANT_HELP}\n` +
        'A batch is ruled on as one. With --key the writ that is made covers the whole space.\n' +
        'Negative: something was rejected, or waits, or an open approval freezes it, which ends it.',
    )
    .action(
      inSession(async (session, options: Options, path: string, trajectoryId: string) => {
        if (options.batch > BATCH_MAX) throw new CliError('usage', `--batch is at most ${BATCH_MAX}.`);
        if (path === STDIN && options.writ === STDIN)
          throw new CliError('usage', 'Standard input can’t be both the writ and what is read.');
        const subjects = subjectsOf(options);
        const authority = options.dryRun === true ? undefined : authorityIn(session, options);
        const model = await loadModel(options.model);
        const file = openLines(path === STDIN ? 0 : path, LINE, path === STDIN ? 'standard input' : path);
        return session.withStore('existing', async (store) => {
          const assize = await openAssize(store, session.storeUrl, options);
          const trajectory = await assize.open(trajectoryId);
          const given = await authority?.(store, trajectoryId, `memory:${segment(options.space)}:**`);
          const terms = { ...model, ...termsOf(options, trajectory), subjects };
          const done = await extracted(session, file, options, { store, trajectory, terms, authority: given });
          await assize.close();
          session.progress.end();
          print(session, done, options.dryRun === true);
          return done.others.length === 0 ? EXIT.ok : EXIT.negative;
        });
      }),
    );
}

interface Reading {
  readonly store: Store;
  readonly trajectory: Trajectory;
  readonly terms: ExtractionTerms;
  /** Null if nothing is asserted. */
  readonly authority: Authority | undefined;
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
}

async function extracted(
  { interruption, progress }: Session,
  file: LinesFile<z.infer<typeof LINE>>,
  { batch, sample, space }: Options,
  { store, trajectory, terms, authority }: Reading,
): Promise<Done> {
  const oracle = createOracle({ store, clock: systemClock, mode: 'record' });
  let [answers, commits, believed] = [0, 0, 0];
  const claims: ExtractedClaim[] = [];
  const others: RefusedLines[] = [];
  for (let first = 1; first <= file.length; first += batch) {
    interruption.throwIfAborted();
    if (first > 1) progress.report('messages read', first - 1, file.length);
    const last = Math.min(first + batch - 1, file.length);
    const found = await naming(file, first, () =>
      extractFacts(messagesOf(file, first, last), { ...terms, oracle, trajectory: trajectory.id, sample }),
    );
    answers += found.attempts;
    claims.push(...found.claims);
    if (authority === undefined || found.claims.length === 0) continue;
    const { observations } = found;
    const ruling = await trajectory
      .memory({ space, writ: authority.writ() })
      .assertMany(found.claims, { observations });
    if (ruling.ruling === 'committed') {
      commits += 1;
      believed += memoryChangeOf(ruling).believed;
    } else others.push({ lines: [first, last], ruling });
    if (ruling.ruling === 'frozen') break;
  }
  return { messages: file.length, answers, claims, commits, believed, others };
}

function messagesOf(file: LinesFile<z.infer<typeof LINE>>, first: number, last: number): Message[] {
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const number = first + i;
    const { author, text, at, id = `sha256:${file.hash}#${number}` } = file.line(number);
    try {
      return { id, author, text, ...(at !== undefined && { at: instantOf(at) }) };
    } catch (error) {
      if (!isAssizeError(error)) throw error;
      throw new CliError('bad_input', `${file.at(number)}: ${error.message}`, { cause: error });
    }
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
    if (!isAssizeError(error) || error.code === 'oracle_corrupt') throw error;
    const { message } = error.evidence as { readonly message?: number };
    const place = error instanceof CliError ? '' : `${file.at(first + (message ?? 0))}: `;
    const before = first === 1 ? 'Nothing was said' : `${linesTo(first - 1)} read, and no others`;
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
    throw new CliError('bad_input', `The domain ${name} declares no memory; name a trajectory of one that does.`);
  return {
    predicates: memory.predicates,
    ...(reference !== undefined && { reference }),
    ...(confidenceMax !== undefined && { confidenceMax }),
  };
}

function subjectsOf({ subject, authors, anySubject }: Options): ExtractionTerms['subjects'] {
  const given = [subject.length > 0, authors === true, anySubject === true];
  if (given.filter(Boolean).length !== 1)
    throw new CliError('usage', 'Say of whom something may be said: with --subject NAME, --authors, or --any-subject.');
  if (authors === true) return 'author';
  return anySubject === true ? 'any' : subject;
}

function print({ json, out }: Session, { others, ...done }: Done, isDry: boolean): void {
  const { messages, answers, claims, commits, believed } = done;
  if (json) {
    out.document({ ...done, dry_run: isDry, refused: others.map(describeRefusedLines) });
    return;
  }
  if (isDry && claims.length > 0) printClaims(out, claims);
  printRefusedLines(out, others);
  const read = line`${counted(messages, 'message')} read in ${counted(answers, 'answer')}, ${counted(claims.length, 'fact')} stated`;
  if (isDry) out.line(line`${read}; nothing is said`);
  else {
    const sum = line`${read}: ${counted(commits, 'commit')}, ${counted(believed, 'fact')} added`;
    out.line(others.length === 0 ? green(sum) : sum);
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
    claims.map(({ subject, predicate, object, confidence, valid: { from, to = OPEN_END }, source }) => [
      subject,
      predicate,
      object,
      confidence,
      periodText(from, to),
      source,
    ]),
  );
}
