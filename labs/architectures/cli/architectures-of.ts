import { chatModelOf, modelIdOf } from '@assize/agents/internal/commands/chat-model.ts';
import { CliError, importModule, lookedAt, readText } from '@assize/command';
import type { Store } from 'assize/internal/stores';
import { type Architecture, judged, kernel, microservices } from '../index.ts';

/** The options of the command line for architectures. */
export interface ArchitectureOptions {
  readonly judge?: string;
  readonly brief?: string;
  readonly record?: string;
  readonly recorded?: boolean;
  readonly architectures?: string;
}

/**
 * Microservices, a judge if one is named, the kernel, and those of a file.
 *
 * @throws CliError; ModelError `bad_argument`
 */
export async function architecturesOf(
  options: ArchitectureOptions,
  record: Store | undefined,
): Promise<readonly Architecture[]> {
  const own =
    options.architectures === undefined ? [] : await exportedArchitectures(options.architectures);
  return [microservices(), ...judgeOf(options, record), kernel(), ...own];
}

/** @throws CliError `usage` */
export function requireJudgeOptions({ judge, brief, record, recorded }: ArchitectureOptions): void {
  const [lonely] = Object.entries({ brief, record, recorded }).filter(
    ([, value]) => value !== undefined,
  );
  if (judge === undefined && lonely !== undefined)
    throw new CliError(
      'usage',
      `The option --${lonely[0]} is for a judge. Pass --judge openai:NAME@URL too.`,
    );
  if (recorded === true && record === undefined)
    throw new CliError(
      'usage',
      'The option --recorded needs recorded answers. Pass --record FILE.db too.',
    );
}

function judgeOf(options: ArchitectureOptions, record: Store | undefined): readonly Architecture[] {
  const { judge, brief, recorded } = options;
  if (judge === undefined) return [];
  const model = recorded === true ? { id: modelIdOf(judge) } : chatModelOf(judge, false);
  const given = {
    ...(brief !== undefined && { brief: readText(brief) }),
    ...(record !== undefined && { record }),
  };
  return [judged({ model, name: `judge ${model.id}`, ...given })];
}

async function exportedArchitectures(file: string): Promise<readonly Architecture[]> {
  const module = await importModule(
    file,
    'architectures',
    'Name a module that exports architectures',
  );
  const list = lookedAt(
    file,
    'architectures',
    () => (module as { readonly architectures?: unknown }).architectures,
  );
  if (Array.isArray(list) && list.length > 0) return list;
  throw new CliError(
    'bad_input',
    `The file ${file} is not valid: it exports no list architectures; export one.`,
  );
}
