import {
  CliError,
  dim,
  EXIT,
  INSTANT_HELP,
  importModule,
  inSession,
  instantOrAny,
  line,
  lookedAt,
  periodOf,
  positive,
  printFacts,
  project,
  readingAssize,
  type Session,
  type SharedOptions,
  spaceOption,
  unknownSpaceText,
  whyOf,
  withSharedOptions,
  yellow,
} from '@assize/command';
import type { Instant } from 'assize/internal/canon';
import {
  ALLEN_RELATIONS,
  type AllenRelation,
  type Embedder,
  type Period,
} from 'assize/internal/memory';
import type { Recalled, RecallQuery, SearchMode } from 'assize/internal/runtime';
import type { Store, VectorSearch } from 'assize/internal/stores';
import { type Command, InvalidArgumentError, Option } from 'commander';

/** The selected facts. */
export interface AboutOptions extends SharedOptions {
  readonly space: string;
  readonly subject?: string;
  readonly predicate?: string;
  readonly trajectory?: string;
}

interface HistoryOptions extends AboutOptions {
  readonly kind?: Kind;
  readonly limit?: number;
}

interface RecallOptions extends HistoryOptions {
  readonly valid?: Instant | 'any';
  readonly system?: Instant | 'any';
  readonly relation?: readonly AllenRelation[];
  readonly of?: Period;
  readonly text?: string;
  readonly by?: SearchMode;
  readonly nearby?: boolean;
  readonly embedder?: string;
  readonly vectors?: VectorSearch;
}

type Kind = NonNullable<RecallQuery['kind']>;

const KINDS: readonly Kind[] = ['current', 'audit', 'all'];
const WAYS: readonly SearchMode[] = ['text', 'embedding', 'hybrid'];
const SEARCHES: readonly VectorSearch[] = ['exact', 'sqlite-vec'];
const SCORE_DIGITS = 4;
/** Maximum number of results of a recall. */
export const LIMIT_MAX = 10_000;

const kindOption = new Option(
  '--kind <kind>',
  'current: current and past facts (default); audit: losing assertions; all',
).choices(KINDS);
const limitOption = new Option(
  '--limit <n>',
  `maximum number of facts, up to ${LIMIT_MAX} (default: 1000)`,
).argParser(positive);

/** The options of a command that reads facts of one space. */
export function about(command: Command): Command {
  return command
    .addOption(spaceOption)
    .option('--subject <name>', 'only facts of this subject')
    .option('--predicate <name>', 'only facts of this predicate')
    .option(
      '--trajectory <id>',
      'facts visible to this trajectory or branch (default: shared facts)',
    );
}

export const validOption: Option = new Option(
  '--valid <instant>',
  'valid time; any: all times (default: now)',
).argParser(instantOrAny);
export const systemOption: Option = new Option(
  '--system <instant>',
  'system time; any: all times (default: now)',
).argParser(instantOrAny);

export function recall(command: Command): void {
  withSharedOptions(
    about(command.command('recall').description('list facts at a valid time and a system time'))
      .addOption(validOption)
      .addOption(systemOption)
      .addOption(kindOption)
      .addOption(
        new Option(
          '--relation <names>',
          'relations of the valid time to --of, separated by commas',
        ).argParser(relations),
      )
      .addOption(new Option('--of <from/to>', 'period of --relation').argParser(periodOf))
      .option('--text <words>', 'search text; best facts first (default limit: 10)')
      .addOption(
        new Option(
          '--by <mode>',
          'search mode: text (default), embedding, or hybrid (default with --embedder)',
        ).choices(WAYS),
      )
      .option(
        '--nearby',
        'with --text, also rank by facts of the same day and those recorded beside them, as in a conversation',
      )
      .option(
        '--embedder <file>',
        'module that exports an embedder for missing vectors (default: that of the config)',
      )
      .addOption(
        new Option(
          '--vectors <search>',
          'vector search: exact (default), or sqlite-vec, a faster package for SQLite with equal results',
        ).choices(SEARCHES),
      )
      .addOption(limitOption),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize memory recall --space ward-3\n' +
        '  assize memory recall --space ward-3 --subject "patient 7" --valid 2026-04-16 --system 2026-04-17\n' +
        '  assize memory recall --space ward-3 --relation during,equals --of 2026-03-01/2026-04-01\n' +
        '  assize memory recall --space ward-3 --text "penicillin in April" --valid any\n' +
        '  assize memory recall --space ward-3 --text "what makes her cough" --embedder ./embedder.ts\n' +
        '  assize memory recall --space ward-3 --trajectory what-if\n\n' +
        `${INSTANT_HELP}\nRelations are Allen’s: ${ALLEN_RELATIONS.join(', ')}.\n` +
        'With --json, the output has an observation for a proposal that uses the facts. No domain is needed.',
    )
    .action(
      inSession(async (session, options: RecallOptions) => {
        const { relation, of } = options;
        if ((relation === undefined) !== (of === undefined))
          throw new CliError(
            'usage',
            'The options --relation and --of need each other. Pass both.',
          );
        const { text, embedder, by = embedder === undefined ? undefined : 'hybrid' } = options;
        const own = by === 'embedding' || by === 'hybrid' ? project()?.memory.embedder : undefined;
        const hasNone = embedder === undefined && own === undefined;
        if (options.vectors !== undefined && hasNone)
          throw new CliError('usage', 'The option --vectors needs --embedder. Pass both.');
        if (text === undefined && by !== undefined)
          throw new CliError(
            'usage',
            'The options --by and --embedder need --text. Pass --text WORDS.',
          );
        if (options.nearby === true && text === undefined)
          throw new CliError('usage', 'The option --nearby needs --text. Pass --text.');
        if (options.nearby === true && by === 'embedding')
          throw new CliError(
            'usage',
            'The option --nearby needs a search mode with words. Change --by.',
          );
        if (hasNone !== (by === undefined || by === 'text'))
          throw new CliError(
            'usage',
            'The modes embedding and hybrid need --embedder, and the mode text excludes it. Change --by.',
          );
        const query = {
          ...given(
            options,
            'subject',
            'predicate',
            'valid',
            'system',
            'kind',
            'limit',
            'text',
            'nearby',
          ),
          ...(by !== undefined && { by, signal: session.interruption }),
          ...(relation && of && { relation: { is: relation, to: of } }),
        };
        return show(session, options, query, {
          embedder: embedder === undefined ? own : await embedderOf(embedder),
          vectors: options.vectors,
        });
      }),
    );
}

export function history(command: Command): void {
  withSharedOptions(
    about(command.command('history').description('list all versions of facts'))
      .addOption(kindOption)
      .addOption(limitOption),
  )
    .addHelpText(
      'after',
      '\nExample:\n  assize memory history --space ward-3 --subject "patient 7" --predicate takes --kind all\n\n' +
        'No domain is needed.',
    )
    .action(
      inSession((session, options: HistoryOptions) =>
        show(session, options, {
          ...given(options, 'subject', 'predicate', 'kind', 'limit'),
          valid: 'any',
          system: 'any',
        }),
      ),
    );
}

/** Only the given options. */
export function given<Options extends object, Name extends keyof Options>(
  options: Options,
  ...names: readonly Name[]
): { readonly [K in Name]?: Exclude<Options[K], undefined> } {
  const said = names
    .filter((name) => options[name] !== undefined)
    .map((name) => [name, options[name]]);
  return Object.fromEntries(said) as never;
}

async function show(
  session: Session,
  { space, trajectory }: AboutOptions,
  query: RecallQuery,
  {
    embedder,
    ...by
  }: { readonly embedder?: Embedder | undefined; readonly vectors?: VectorSearch | undefined } = {},
): Promise<number> {
  if ((query.limit ?? 1) > LIMIT_MAX)
    throw new CliError('usage', `The option --limit is too large. Pass at most ${LIMIT_MAX}.`);
  // Computed vectors are stored.
  const mode = embedder === undefined ? 'readonly' : 'existing';
  const read = async (store: Store) => {
    const found = await readingAssize(store, embedder).memory(space, trajectory).recall(query);
    print(
      session,
      found,
      found.facts.length === 0 ? await unknownSpaceText(store, [space]) : undefined,
    );
    return EXIT.ok;
  };
  return session.withStore(mode, read, given(by, 'vectors'));
}

/**
 * The single embedder that a module exports.
 * @throws CliError
 */
async function embedderOf(file: string): Promise<Embedder> {
  const module = await importModule(file, 'embedder', 'Name a module that exports an embedder');
  const found = lookedAt(file, 'embedder', () =>
    Object.values(module).filter(
      (value): value is Embedder =>
        typeof value === 'object' && value !== null && typeof value.embed === 'function',
    ),
  );
  if (found.length === 1) return failing(found[0]!, file);
  throw new CliError(
    'bad_input',
    `The file ${file} exports ${found.length} embedders. Export one: { id, dimensions, embed(texts, signal) }.`,
  );
}

/** An error of the embedder belongs to the user's module. */
function failing(embedder: Embedder, file: string): Embedder {
  return {
    id: embedder.id,
    dimensions: embedder.dimensions,
    embed: async (texts, signal) => {
      try {
        return await embedder.embed(texts, signal);
      } catch (cause) {
        // The embedder may have failed because it was aborted.
        signal.throwIfAborted();
        throw new CliError(
          'bad_input',
          `The embedder of ${file} failed: ${whyOf(cause).replace(/\.$/, '')}.`,
          {
            cause,
          },
        );
      }
    },
  };
}

function print(
  { json, out }: Session,
  { facts, scores, isTruncated, observation, fallback }: Recalled,
  unknown: string | undefined,
): void {
  const failed = fallback && { by: fallback.by, cause: whyOf(fallback.cause) };
  if (json) {
    const told = { ...(scores && { scores }), ...(failed && { fallback: failed }) };
    out.document({ facts, ...told, is_truncated: isTruncated, observation });
    return;
  }
  if (failed)
    out.line(
      line`${yellow('The embedder failed')}, so the facts are ranked by words: ${failed.cause}`,
    );
  if (facts.length === 0)
    out.line(line`No facts found.${unknown === undefined ? '' : ` ${unknown}`}`);
  else
    printFacts(
      out,
      facts,
      scores?.map(({ score }) => score.toFixed(SCORE_DIGITS)),
      { title: 'score', align: 'right' },
    );
  if (isTruncated) out.line(dim(line`More facts match. Pass a larger --limit.`));
}

function relations(text: string): readonly AllenRelation[] {
  return text.split(',').map((name) => {
    const found = ALLEN_RELATIONS.find((relation) => relation === name);
    if (found !== undefined) return found;
    throw new InvalidArgumentError(`'${name}' is not one of ${ALLEN_RELATIONS.join(', ')}.`);
  });
}
