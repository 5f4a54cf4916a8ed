import {
  CliError,
  count,
  dim,
  EXIT,
  INSTANT_HELP,
  inSession,
  instantOrAny,
  instantOrDay,
  line,
  note,
  periodText,
  readingAssize,
  repeatable,
  type Session,
  type SharedOptions,
  shortFact,
  unknownSpaceText,
  upTo,
  withSharedOptions,
  yellow,
} from '@assize/command';
import type { Instant } from 'assize/internal/canon';
import { systemClock } from 'assize/internal/oracle';
import { type Command, Option } from 'commander';
import { ChatMemory, type ChatRecall } from '#chat';
import { metadataOf } from './metadata.ts';

interface Options extends SharedOptions {
  readonly space: readonly string[];
  readonly trajectory?: string;
  readonly valid?: Instant | 'any';
  readonly system?: Instant;
  readonly subject: readonly string[];
  readonly predicate: readonly string[];
  readonly metadata: readonly string[];
  readonly limit?: number;
  readonly cursor?: string;
  readonly budget?: number;
  readonly context?: boolean;
}

const LIMIT_MAX = 200;
const BUDGET_TEXT = 'No fact fits into the budget, so the text is empty. Pass a larger --budget.';

export function ask(command: Command): void {
  withSharedOptions(
    command
      .command('ask')
      .description('list the facts for a question, with names that mean one thing as one')
      .argument('[question]', 'question in words (default: all facts, by pages)')
      .addOption(repeatable('--space <name>', 'space of the facts; repeat it for several'))
      .option(
        '--trajectory <id>',
        'facts visible to this trajectory or branch (default: shared facts)',
      )
      .addOption(
        new Option('--valid <instant>', 'valid time; any: all times (default: now)').argParser(
          instantOrAny,
        ),
      )
      .addOption(
        new Option('--system <instant>', 'facts as recorded then (default: now)').argParser(
          instantOrDay,
        ),
      )
      .addOption(
        repeatable('--subject <name>', 'only facts of this subject, under any of its names'),
      )
      .addOption(
        repeatable('--predicate <name>', 'only facts of this predicate, under any of its names'),
      )
      .addOption(repeatable('--metadata <name=value>', 'only facts whose messages have this'))
      .addOption(
        new Option('--limit <n>', `facts of a page, up to ${LIMIT_MAX} (default: 20)`).argParser(
          upTo(LIMIT_MAX),
        ),
      )
      .option('--cursor <text>', 'next page, as --json has it in `next`')
      .addOption(
        new Option('--budget <tokens>', 'maximum tokens of the text for a prompt').argParser(count),
      )
      .option('--context', 'print the text for a prompt alone'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize memory ask "Where does Ida live?" --space user:ida --space team\n' +
        '  assize memory ask "What does Ida like?" --space user:ida --context --budget 500\n' +
        '  assize memory ask --space user:ida --metadata channel=mail --valid any --json\n\n' +
        `${INSTANT_HELP}\n` +
        'Tokens are estimated, and never too few for a usual tokenizer. No domain is needed.',
    )
    .action(
      inSession(async (session, options: Options, question?: string) => {
        const { space: spaces, subject, predicate, trajectory } = options;
        if (spaces.length === 0)
          throw new CliError('usage', 'The command needs a space. Pass --space NAME.');
        const metadata = metadataOf(options.metadata);
        return session.withStore('readonly', async (store) => {
          const memory = new ChatMemory(
            { assize: readingAssize(store), store },
            {
              mayRead: () => true,
              clock: systemClock,
              ...(trajectory !== undefined && { readAs: trajectory }),
            },
          );
          const found = await memory.recall(question, {
            spaces,
            ...(options.valid !== undefined && { at: options.valid }),
            ...(options.system !== undefined && { asOf: options.system }),
            ...(options.limit !== undefined && { limit: options.limit }),
            ...(options.cursor !== undefined && { cursor: options.cursor }),
            ...(options.budget !== undefined && { budget: options.budget }),
            filter: {
              ...(subject.length > 0 && { subjects: subject }),
              ...(predicate.length > 0 && { predicates: predicate }),
              ...(metadata !== undefined && { metadata }),
            },
          });
          const isUnknown = found.facts.length === 0 && options.cursor === undefined;
          const unknown = isUnknown ? await unknownSpaceText(store, spaces) : undefined;
          print(session, found, options, unknown);
          return EXIT.ok;
        });
      }),
    );
}

function print(
  { json, out }: Session,
  { facts, context, tokens, next, observations }: ChatRecall,
  options: Options,
  unknown: string | undefined,
): void {
  if (json) {
    const shown = facts.map(({ row: _, ...fact }) => fact);
    out.document({
      facts: shown,
      context,
      tokens,
      ...(next !== undefined && { next }),
      observations,
    });
    return;
  }
  if (options.context === true) {
    // The output is for a prompt, so a message to the user is not a part of it.
    if (context === '') note(facts.length > 0 ? BUDGET_TEXT : (unknown ?? 'No facts found.'));
    else for (const each of context.split('\n')) out.line(line`${each}`);
    return;
  }
  if (facts.length === 0)
    out.line(line`No facts found.${unknown === undefined ? '' : ` ${unknown}`}`);
  else
    out.table(
      ['fact', 'space', 'subject', 'predicate', 'object', 'valid'].map((title) => ({ title })),
      facts.map(({ id, space, subject, predicate, object, valid_from, valid_to }) => [
        shortFact(id),
        space,
        subject,
        predicate,
        object,
        periodText(valid_from, valid_to),
      ]),
    );
  for (const { id, contradictedBy = [] } of facts)
    for (const other of contradictedBy)
      out.line(
        line`${yellow('contested')} ${shortFact(id)} by ${shortFact(other.id)}: ${other.object}`,
      );
  if (next !== undefined)
    out.line(
      dim(line`More facts match. Pass a larger --limit, or --cursor with \`next\` of --json.`),
    );
}
