import type { ComparedAgent } from '#architectures';
import type { Domain } from '#kernel';
import { CliError } from '../errors.ts';
import { listedAgents, loadAgentsFile } from './agents.ts';

/**
 * The agents of a file for a comparison: each decides by its slice alone, with `decide`.
 *
 * @throws CliError
 */
export async function comparedAgentsIn(file: string, domain: Domain, signal: AbortSignal): Promise<ComparedAgent[]> {
  const loaded = await loadAgentsFile(file);
  const listed = await listedAgents(loaded, { domain, signal, model: undefined, writs: [] });
  return listed.map(({ name, role, entry }, i) => {
    const decide = entry.decide as ComparedAgent['decide'] | undefined;
    if (typeof decide !== 'function')
      throw new CliError(
        'bad_input',
        `The file ${loaded.path} is not valid: agent ${i + 1} has no decide. Give it a function of its slice.`,
      );
    return { name: name === '' ? `agent ${i + 1}` : name, role, decide: decide.bind(entry) };
  });
}
