import type { Json } from 'assize/internal/base';
import type { ActionSpec, Domain } from 'assize/internal/kernel';
import { z } from 'zod';
import type { ChatTool } from './chat-model.ts';
import { badOption } from './errors.ts';

/** The tools of a role, and the decision that each tool means. */
export interface ActionTools {
  readonly tools: readonly ChatTool[];
  readonly meanings: ReadonlyMap<string, ToolMeaning>;
}

/** `isWrapped`: the arguments are in the member `value`, because they are not an object. */
export type ToolMeaning =
  | { readonly action: string; readonly isWrapped: boolean }
  | { readonly action?: undefined; readonly decision: 'wait' | 'done' };

/**
 * One tool for each action of the role, with the schema of its arguments, and the tools `wait` and
 * `done`.
 *
 * @throws ModelError `bad_argument`
 */
export function actionTools(domain: Domain, role: string, only?: readonly string[]): ActionTools {
  const names = actionsOf(domain, role, only);
  const meanings = new Map<string, ToolMeaning>();
  const tools: ChatTool[] = [];
  const add = (wanted: string, description: string, input: Json, meaning: ToolMeaning): void => {
    const name = freeName(wanted, meanings);
    meanings.set(name, meaning);
    tools.push({ name, description, input });
  };
  for (const action of names) {
    const spec = domain.actions[action] as ActionSpec;
    const { input, isWrapped } = inputOf(action, spec.args);
    add(action, spec.description ?? `The action ${action}.`, input, { action, isWrapped });
  }
  add('wait', 'Do nothing until the state changes.', NOTHING, { decision: 'wait' });
  add('done', 'End your work. You are not asked again.', NOTHING, { decision: 'done' });
  return { tools, meanings };
}

const NOTHING: Json = { type: 'object', properties: {}, additionalProperties: false };

function actionsOf(
  { name, actions, roles }: Domain,
  role: string,
  only: readonly string[] | undefined,
): string[] {
  const processes = Object.hasOwn(roles, role) ? roles[role]?.processes : undefined;
  if (processes === undefined) throw badOption('role', `${name} has no role ${role}`);
  const own = Object.keys(actions).filter((action) =>
    processes.includes((actions[action] as ActionSpec).process),
  );
  const foreign = only?.find((action) => !own.includes(action));
  if (foreign !== undefined)
    throw badOption('actions', `the role ${role} has no action ${foreign}`);
  return only === undefined ? own : own.filter((action) => only.includes(action));
}

const NAME_MAX = 64;

/** A name that each provider accepts, and that no other tool has. */
function freeName(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  const base = wanted.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, NAME_MAX);
  let name = base;
  for (let n = 2; taken.has(name); n++)
    name = `${base.slice(0, NAME_MAX - 1 - String(n).length)}_${n}`;
  return name;
}

/**
 * The JSON Schema of the arguments. Providers accept only objects. A domain has no recursive
 * arguments, so no reference names the root.
 */
function inputOf(
  action: string,
  args: z.ZodType,
): { readonly input: Json; readonly isWrapped: boolean } {
  const schema = schemaOf(action, args);
  if (schema['type'] === 'object') return { input: schema, isWrapped: false };
  const { $defs, ...value } = schema;
  const input = {
    type: 'object',
    properties: { value },
    required: ['value'],
    additionalProperties: false,
    ...($defs !== undefined && { $defs }),
  };
  return { input, isWrapped: true };
}

function schemaOf(action: string, args: z.ZodType): { readonly [member: string]: Json } {
  try {
    const { $schema: _, ...schema } = z.toJSONSchema(args, { io: 'input', unrepresentable: 'any' });
    return JSON.parse(JSON.stringify(schema)) as { readonly [member: string]: Json };
  } catch (cause) {
    const why = (cause as Error).message;
    throw badOption('domain', `the arguments of ${action} have no JSON Schema: ${why}`);
  }
}
