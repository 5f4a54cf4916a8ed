import { readFileSync } from 'node:fs';
import {
  apiToken,
  CliError,
  EXIT,
  type ExitCode,
  inSession,
  jsonFault,
  listing,
  replaceFile,
  type Session,
  type StorelessOptions,
  serverAddress,
  unanswered,
  unreadable,
  whileBlocked,
  withoutStore,
} from '@assize/command';
import type { Operation } from '@assize/command/operation';
import { isAssizeError, type Json } from 'assize/internal/base';
import { parseStrict, WORLD_LIMITS } from 'assize/internal/canon';
import { type Command, Option } from 'commander';
import type { z } from 'zod';
import { OPERATIONS } from '../operations/table.ts';

interface Options extends StorelessOptions {
  readonly url: string;
  readonly tokenFile?: string;
  readonly body?: string;
  readonly key?: string;
  readonly wait?: string;
  readonly out?: string;
  readonly [part: string]: unknown;
}

/** `assize api OPERATION`: each operation of the server as a command. */
export function api(program: Command): void {
  const command = program
    .command('api')
    .description('call an operation of a server; prints its JSON')
    .configureHelp(listing(() => false))
    .addHelpText('after', `\nOperations: ${OPERATIONS.map(({ id }) => id).join(', ')}.`);
  for (const one of OPERATIONS) addOperation(command, one);
}

function addOperation(parent: Command, one: Operation): void {
  const { id, summary, params, query, body, needsKey, kinds } = one;
  const command = parent.command(id).description(summary);
  for (const name of Object.keys(params?.shape ?? {}))
    command.requiredOption(`--${dashed(name)} <text>`, 'of the path');
  for (const [name, schema] of Object.entries(query?.shape ?? {}))
    command.option(`--${dashed(name)} <text>`, (schema as z.ZodType).description ?? 'of the query');
  if (body !== undefined)
    command.requiredOption('--body <json>', 'body in JSON, or @FILE, or @- for standard input');
  if (one.media !== undefined)
    command.requiredOption('--out <file>', 'write the answer to this file');
  if (needsKey === true)
    command.requiredOption('--key <text>', 'idempotency key: the same again for a repetition');
  command
    .addOption(
      new Option('--url <url>', 'address of the server')
        .env('ASSIZE_URL')
        .default('http://127.0.0.1:4517'),
    )
    .option(
      '--token-file <file>',
      'file with a token (default: the environment variable ASSIZE_TOKEN)',
    );
  if (query?.shape['wait'] === undefined)
    command.option('--wait <seconds>', 'seconds to wait for a decision');
  withoutStore(command)
    .addHelpText(
      'after',
      `\nFor: ${kinds.join(', ')}.\nNegative: the server refused the request, and the output is its problem.`,
    )
    .action(inSession((session: Session, options: Options) => call(session, one, options)));
}

async function call(
  { out, interruption }: Session,
  one: Operation,
  options: Options,
): Promise<ExitCode> {
  const text = (name: string): string | undefined => {
    const value = options[camel(name)];
    return typeof value === 'string' ? value : undefined;
  };
  const path = one.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(text(name) ?? ''),
  );
  const url = new URL(path, serverAddress(options.url));
  for (const name of Object.keys(one.query?.shape ?? {})) {
    const value = text(name);
    if (value !== undefined) url.searchParams.set(name, value);
  }
  const body = options.body === undefined ? undefined : bodyOf(options.body);
  const response = await fetch(url, {
    method: one.method.toUpperCase(),
    redirect: 'error',
    signal: interruption,
    headers: {
      authorization: `Bearer ${apiToken(options.tokenFile)}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(options.key !== undefined && { 'idempotency-key': options.key }),
      ...(options.wait !== undefined && { prefer: `wait=${options.wait}` }),
    },
    ...(body !== undefined && { body }),
  }).catch((cause: unknown) => {
    interruption.throwIfAborted();
    throw unanswered(url.origin, cause);
  });
  if (one.isLines === true && response.ok) {
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? [])
      await out.piece(decoder.decode(piece, { stream: true }));
    return EXIT.ok;
  }
  if (one.media !== undefined && response.ok) {
    replaceFile(options.out as string, new Uint8Array(await response.arrayBuffer()));
    out.document({ file: options.out as string });
    return EXIT.ok;
  }
  out.document(documentOf(await response.text()));
  return response.ok ? EXIT.ok : EXIT.negative;
}

function documentOf(text: string): Json {
  try {
    return parseStrict(text, WORLD_LIMITS);
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    throw new CliError(
      'bad_input',
      'The answer is not JSON. Check that --url is the address of an Assize server.',
      {
        cause: error,
      },
    );
  }
}

/** The text of the body: strict JSON. @throws CliError `usage` or `bad_input` */
function bodyOf(given: string): string {
  if (given.startsWith('@')) return fileBody(given.slice(1));
  try {
    parseStrict(given, WORLD_LIMITS);
    return given;
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    throw new CliError('usage', `The body of --body cannot be sent. ${jsonFault(error)}`, {
      cause: error,
    });
  }
}

function fileBody(path: string): string {
  try {
    return whileBlocked(() => readFileSync(path === '-' ? 0 : path, 'utf8'));
  } catch (error) {
    throw unreadable('The body', error, { path, hint: 'Pass JSON, or @ and a file with it' });
  }
}

function dashed(name: string): string {
  return name.replaceAll('_', '-');
}

/** The name under which commander keeps an option. */
function camel(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
