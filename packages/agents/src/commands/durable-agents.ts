import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parse } from 'node:path';
import { CliError } from '@assize/command';
import type { WritChain } from 'assize/host';
import type { DurableAgents } from '#agents';
import type { ChatModel } from '#models';
import { type AgentsFile, agentsOf } from './agents-file.ts';

/** The options of the command line for agents. */
interface Given {
  readonly model: ChatModel | undefined;
  readonly writs: readonly WritChain[];
}

/** Digits of a version. */
const VERSION_LENGTH = 12;

/**
 * The agents of a file for durable runs. Records name them by
 * the name of the file without its ending. Their version is a hash of the file.
 */
export function durableAgents(file: AgentsFile, { model, writs }: Given): DurableAgents {
  const { path, domain } = file;
  return {
    name: parse(path).name,
    version: createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, VERSION_LENGTH),
    ...(domain !== undefined && { domain }),
    agents: ({ trajectory, signal }) =>
      agentsOf(file, { model, domain: trajectory.domain, writs, signal }),
  };
}

/** @throws CliError `usage` if two files have the same name */
export function requireOwnNames(files: readonly AgentsFile[]): void {
  const names = files.map(({ path }) => parse(path).name);
  const twice = names.find((name, n) => names.indexOf(name) < n);
  if (twice !== undefined)
    throw new CliError(
      'usage',
      `Two files are named ${twice}, by which runs name their agents. Rename one of them.`,
    );
}
