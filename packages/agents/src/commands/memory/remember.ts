import {
  type AssertOptions,
  CliError,
  dim,
  EXIT,
  factAuthority,
  green,
  inSession,
  line,
  openLines,
  type Printable,
  project,
  red,
  repeatable,
  type Session,
  STDIN,
  spacesWithFacts,
  withAssize,
  withFactAuthority,
  yellow,
} from '@assize/command';
import { segment } from 'assize/internal/authority';
import { systemClock } from 'assize/internal/oracle';
import { counted, shortId } from 'assize/internal/views';
import type { Command } from 'commander';
import { z } from 'zod';
import { ChatMemory, type ChatMessage, type GivenFact, MESSAGES_MAX, type Remembered } from '#chat';
import { metadataOf } from './metadata.ts';
import { loadModel } from './model.ts';

interface Options extends AssertOptions {
  readonly user?: string;
  readonly metadata: readonly string[];
  readonly model?: string;
  readonly facts?: string;
}

const MESSAGE = z.strictObject({
  role: z.enum(['user', 'assistant', 'system', 'tool']),
  content: z.string(),
  name: z.string().optional(),
  id: z.string().optional(),
  at: z.string().optional(),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
});

const FACT = z.strictObject({
  message: z.int().min(1),
  subject: z.string(),
  predicate: z.string(),
  object: z.string(),
  confidence: z.number().optional(),
  from: z.string().nullable().optional(),
  to: z.string().nullable().optional(),
});

export function remember(command: Command): void {
  withFactAuthority(
    command
      .command('remember')
      .description('record the facts of chat messages')
      .argument('<file>', 'messages as JSON Lines, or - for standard input')
      .argument('<trajectory>', 'trajectory that records the facts')
      .option('--user <name>', 'author of the messages of the role user')
      .addOption(
        repeatable('--metadata <name=value>', 'note on each fact, by which ask can filter'),
      )
      .option(
        '--model <file>',
        'module that exports a function model (default: the model of the config)',
      )
      .option('--facts <file>', 'facts as JSON Lines, in place of a model'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize memory remember chat.jsonl chat --space user:ida --user ida --model model.ts --key anchor.key\n' +
        '  assize memory remember - chat --space user:ida --user ida --facts facts.jsonl --key anchor.key\n\n' +
        'A message is {"role":"user","content":…}, with optional "name", "id", "at" and "metadata". A fact is\n' +
        '{"message":1,"subject":…,"predicate":…,"object":…}, with optional "confidence", "from" and "to".\n' +
        'Names that mean one thing are one name. A repeated command asks no model and changes nothing.\n' +
        'Negative: a fact was skipped, or waits for a person.',
    )
    .action(
      inSession(async (session, options: Options, path: string, trajectoryId: string) => {
        if (options.model !== undefined && options.facts !== undefined)
          throw new CliError(
            'usage',
            'The options --model and --facts exclude each other. Pass one of them.',
          );
        const metadata = metadataOf(options.metadata);
        const model = options.model === undefined ? ownModel() : await loadModel(options.model);
        const facts =
          options.facts === undefined ? undefined : allLines<GivenFact>(options.facts, FACT);
        if (facts === undefined && !('model' in model))
          throw new CliError(
            'usage',
            'The command needs a model or facts. Pass --model FILE or --facts FILE.',
          );
        const messages = messagesOf(path);
        const authority = factAuthority(session, options);
        return session.withStore('existing', async (store) => {
          const isNew = !(await spacesWithFacts(store)).includes(options.space);
          const done = await withAssize(store, session.storeUrl, options, async (assize) => {
            const trajectory = await assize.open(trajectoryId);
            const writ = await authority(
              store,
              trajectoryId,
              `memory:${segment(options.space)}:**`,
            );
            const chat = { assize, store, trajectory, writ: writ() };
            return new ChatMemory(chat, { ...model, clock: systemClock }).remember(messages, {
              space: options.space,
              ...(options.user !== undefined && { user: options.user }),
              ...(metadata !== undefined && { metadata }),
              ...(facts !== undefined && { facts }),
            });
          });
          print(session, done, isNew && done.added.length > 0 ? options.space : undefined);
          return done.skipped.length + done.questions.length === 0 ? EXIT.ok : EXIT.negative;
        });
      }),
    );
}

/** The model of the config, if it has one. */
function ownModel(): Partial<Awaited<ReturnType<typeof loadModel>>> {
  const { model, theta } = project()?.memory ?? {};
  return { ...(model !== undefined && { model }), ...(theta !== undefined && { theta }) };
}

/** @throws CliError */
function messagesOf(path: string): ChatMessage[] {
  const messages = allLines<ChatMessage>(path, MESSAGE);
  const place = path === STDIN ? 'Standard input' : path;
  if (messages.length === 0)
    throw new CliError(
      'bad_input',
      `${place} has no message. Write one JSON object a line, such as {"role":"user","content":"…"}.`,
    );
  if (messages.length > MESSAGES_MAX)
    throw new CliError(
      'bad_input',
      `${place} has ${messages.length} messages, and a call reads at most ${MESSAGES_MAX}. Split the file.`,
    );
  return messages;
}

function allLines<T>(path: string, schema: z.ZodType): T[] {
  const file = openLines(
    path === STDIN ? 0 : path,
    schema,
    path === STDIN ? 'standard input' : path,
  );
  return Array.from({ length: file.length }, (_, n) => file.line(n + 1) as T);
}

function print({ json, out }: Session, done: Remembered, newSpace: string | undefined): void {
  if (json) {
    out.document({ ...done });
    return;
  }
  const { added, changed, duplicates, contradicted, withdrawn, skipped, questions } = done;
  for (const fact of added) out.line(line`${green('added')} ${textOf(fact)}`);
  for (const { was, ...fact } of changed)
    out.line(line`${green('changed')} ${textOf(fact)}; before: ${was.join(', ')}`);
  for (const fact of duplicates) out.line(line`known ${textOf(fact)}`);
  for (const { by, ...fact } of contradicted)
    out.line(line`${red('lost')} ${textOf(fact)}; against: ${by.join(', ')}`);
  for (const fact of withdrawn)
    out.line(line`${yellow('withdrawn')} ${textOf(fact)}: this message stated it before`);
  if (withdrawn.length > 0)
    out.line(
      dim(
        line`A withdrawn statement stays withdrawn. State the fact in another message, or with assize memory assert.`,
      ),
    );
  for (const { fact, why } of skipped)
    out.line(
      line`${yellow('skipped')} ${fact === undefined ? line`a fact` : textOf(fact)}: ${why}`,
    );
  for (const { pending, channel, facts } of questions)
    out.line(
      line`${yellow('pending')} for ${channel} as ${shortId(pending)}: ${counted(facts.length, 'fact')}`,
    );
  if (newSpace !== undefined) out.line(dim(line`The space ${newSpace} is new.`));
  if (Object.values(done).every((list) => list.length === 0)) out.line(line`No facts found.`);
}

function textOf({ subject, predicate, object }: Remembered['added'][number]): Printable {
  return line`${subject} ${predicate} ${object}`;
}
