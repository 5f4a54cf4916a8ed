import { resolve } from 'node:path';
import { badFile, CliError, importModule, lookedAt, whyOf } from '@assize/command';
import type { WritChain } from 'assize/host';
import { isInstance } from 'assize/internal/base';
import { type Domain, requireOwnDomain } from 'assize/internal/kernel';
import type { RoleRef } from 'assize/internal/ledger';
import type { Agent } from '#agents';
import { type ChatModel, modelAgent } from '#models';

/** The agents of a file, with their domain and trajectory if the file names them. */
export interface AgentsFile {
  readonly path: string;
  readonly domain: Domain | undefined;
  readonly trajectory: string | undefined;
  readonly agents: readonly AgentEntry[] | ((given: AgentsGiven) => unknown);
}

/** The argument of a function `agents`. */
export interface AgentsGiven {
  /** The model of `--model`. Undefined without the option. */
  readonly model: ChatModel | undefined;
  readonly domain: Domain;
  /** The writs of `--writ`. */
  readonly writs: readonly WritChain[];
  /** Aborted when the user stops the command. */
  readonly signal: AbortSignal;
}

/** An agent, or the description of one that the model of `--model` decides for. */
type AgentEntry = Partial<Omit<Agent, 'role'>> & {
  readonly role?: string | RoleRef;
  readonly instructions?: string;
  readonly actions?: readonly string[];
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly attempts?: number;
};

/**
 * The exports `agents`, `domain` and `trajectory` of a file, or these members of its default one.
 *
 * @throws CliError
 */
export async function loadAgentsFile(file: string): Promise<AgentsFile> {
  const module = await importModule(file, 'agents', 'Name a module that exports agents');
  const path = resolve(file);
  return lookedAt(file, 'agents', () => {
    const named = module as { readonly [name: string]: unknown };
    // The default export may be another thing, such as the domain.
    const { default: own } = named;
    const given = isObject(own) && 'agents' in own ? (own as typeof named) : named;
    const { agents, domain, trajectory } = given;
    if (typeof agents !== 'function' && !Array.isArray(agents))
      throw badFile(path, 'it exports no agents; export a list, or a function that returns one');
    if (trajectory !== undefined && typeof trajectory !== 'string')
      throw badFile(path, 'its trajectory is not a text; export the id');
    if (domain !== undefined) requireOwnDomain(domain as Domain);
    return {
      path,
      domain: domain as Domain | undefined,
      trajectory,
      agents: agents as AgentsFile['agents'],
    };
  });
}

/** The agents for a run. @throws CliError; ModelError; ArgumentError */
export async function agentsOf(file: AgentsFile, given: AgentsGiven): Promise<Agent[]> {
  const listed = await listedAgents(file, given);
  return listed.map((agent) => agentOf(file.path, agent, given));
}

/**
 * Refuses listed agents that no run can use, so that a process does not begin runs with them. A
 * function `agents` is called for each run.
 *
 * @throws CliError `usage` without a writ or a model; `bad_input`
 */
export function requireUsable(file: AgentsFile, given: Pick<AgentsGiven, 'model' | 'writs'>): void {
  if (typeof file.agents === 'function') return;
  for (const { name, entry } of listOf(file.path, file.agents)) {
    writOf(file.path, name, entry, given.writs);
    if (typeof entry.decide !== 'function') modelOf(file.path, name, entry, given.model);
  }
}

/** An agent as it is written in a file, with its name and role. */
export interface ListedAgent {
  readonly name: string;
  readonly role: RoleRef;
  readonly entry: AgentEntry;
}

/** The agents of a file as they are written there. @throws CliError */
export async function listedAgents(
  { path, agents }: AgentsFile,
  given: AgentsGiven,
): Promise<ListedAgent[]> {
  const list = typeof agents === 'function' ? await made(path, agents, given) : agents;
  if (!Array.isArray(list)) throw badFile(path, 'its function agents returns no list');
  return listOf(path, list);
}

function listOf(path: string, list: readonly unknown[]): ListedAgent[] {
  return list.map((entry, i) => {
    if (!isObject(entry)) throw badFile(path, `agent ${i + 1} is not an object`);
    const { name = '', role: of } = entry as AgentEntry;
    const role = typeof of === 'string' ? { name: of, params: {} } : (of as RoleRef);
    if (!isObject(role)) throw badFile(path, `agent ${i + 1} has no role`);
    return { name, role, entry };
  });
}

async function made(
  path: string,
  make: (given: AgentsGiven) => unknown,
  given: AgentsGiven,
): Promise<unknown> {
  try {
    return await make(given);
  } catch (cause) {
    if (isInstance(cause, CliError)) throw cause;
    throw new CliError(
      'bad_input',
      `The function agents of ${path} failed: ${whyOf(cause).replace(/\.$/, '')}.`,
      {
        cause,
      },
    );
  }
}

function agentOf(path: string, { name, role, entry }: ListedAgent, given: AgentsGiven): Agent {
  const { decide } = entry;
  const writ = writOf(path, name, entry, given.writs);
  if (typeof decide === 'function') return { name, role, writ, decide: decide.bind(entry) };
  const { domain, signal } = given;
  const { model, instructions } = modelOf(path, name, entry, given.model);
  const { actions, temperature, maxTokens, attempts } = entry;
  return modelAgent({
    name,
    role,
    writ,
    model,
    domain,
    instructions,
    signal,
    ...(actions !== undefined && { actions }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(attempts !== undefined && { attempts }),
  });
}

/** The model and the instructions of an agent without a function `decide`. @throws CliError */
function modelOf(
  path: string,
  name: string,
  { instructions }: AgentEntry,
  model: ChatModel | undefined,
) {
  if (typeof instructions !== 'string')
    throw badFile(
      path,
      `the agent ${name} has neither decide nor instructions; give it one of them`,
    );
  if (model === undefined)
    throw new CliError(
      'usage',
      `The agent ${name} of ${path} needs a model. Pass --model openai:NAME@URL.`,
    );
  return { model, instructions };
}

function writOf(
  path: string,
  name: string,
  { writ }: AgentEntry,
  writs: readonly WritChain[],
): Agent['writ'] {
  return writ ?? writFor(path, name, writs);
}

/** The writ with the agent's name as its subject, or the only one. @throws CliError */
function writFor(path: string, name: string, writs: readonly WritChain[]): WritChain {
  const own = writs.filter(({ writ }) => writ.subject === name);
  const [found, ...others] = own.length > 0 ? own : writs;
  if (found === undefined)
    throw new CliError(
      'usage',
      `The agent ${name} of ${path} has no writ. Pass one with --writ FILE.`,
    );
  if (others.length === 0) return found;
  throw new CliError(
    'usage',
    `Several writs fit the agent ${name}. Pass one writ with the subject ${name}.`,
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
