import { isToolName } from 'assize/internal/authority';
import type { Json } from 'assize/internal/base';
import { parsePointer } from 'assize/internal/canon';
import { type CedarEngine, sayingOf } from './engine.ts';
import { refused } from './errors.ts';

/** The Cedar type of one value. A set has strings, integers or booleans. */
export type Kind =
  | 'String'
  | 'Long'
  | 'Bool'
  | 'decimal'
  | 'datetime'
  | { readonly setOf: 'String' | 'Long' | 'Bool' };

export interface Attribute {
  readonly name: string;
  readonly kind: Kind;
  readonly required: boolean;
}

/**
 * An argument that policies can read: a field of the arguments, or a place in them if its name is a
 * JSON pointer. Also a field or place in the input of a call.
 */
export interface Argument extends Attribute {
  readonly path: readonly string[];
}

/** The calls of an action that policies can read, one call in each request. */
export interface ShownCalls {
  /** Whether the proposal must have a call. */
  readonly required: boolean;
  /** The readable parts of the input, by tool. A call of another tool is denied. */
  readonly inputs: ReadonlyMap<string, readonly Argument[]>;
}

/**
 * The parts of a proposal that the schema shows to policies for one action. Cedar receives nothing
 * else.
 */
export interface Shown {
  readonly attributes: readonly Attribute[];
  readonly params: readonly Attribute[] | undefined;
  readonly args: readonly Argument[] | undefined;
  readonly call: ShownCalls | undefined;
}

export interface ReadSchema {
  readonly actions: ReadonlyMap<string, Shown>;
  /** Whether the request puts a principal in its role. */
  readonly inRoles: boolean;
}

/** The context attributes that are allowed in addition to `params`, `args` and `call`. */
const ATTRIBUTES: Readonly<Record<string, Kind>> = {
  role: 'String',
  writ: 'String',
  at: 'datetime',
  scopes: { setOf: 'String' },
};

const ENTITIES: Readonly<Record<string, readonly string[]>> = {
  Principal: ['Role'],
  Role: [],
  Trajectory: [],
};

type Declared = { readonly [name: string]: any };

/**
 * Reads the actions and the parts of a proposal that each can read. A declaration that no request
 * can fulfil is refused: it would be a rule that never applies, or an error at every question.
 *
 * @throws CedarError `bad_input`
 */
export function readSchema(engine: CedarEngine, schema: string | object): ReadSchema {
  const answer = engine.schemaToJson(schema);
  if (answer.type === 'failure') {
    const text = typeof schema === 'string' ? schema : undefined;
    throw refused(
      'schema',
      answer.errors.map((error) => sayingOf(error, text)),
    );
  }
  const problems: string[] = [];
  const namespaces = answer.json as Declared;
  const named = Object.keys(namespaces).filter((name) => name !== '');
  if (named.length > 0)
    problems.push(
      `it has the namespace ${named.join(', ')}; declare everything without a namespace`,
    );
  const { commonTypes = {}, entityTypes = {}, actions = {} } = (namespaces[''] ?? {}) as Declared;
  checkEntities(entityTypes, problems);
  const read = new Map<string, Shown>();
  for (const [name, action] of Object.entries(actions as Declared)) {
    const { appliesTo = {} } = action;
    // No request names a group of actions.
    if (isEmpty(appliesTo.principalTypes) || isEmpty(appliesTo.resourceTypes)) continue;
    read.set(name, shownOf(name, appliesTo, new Types(commonTypes), problems));
  }
  if (problems.length > 0) throw refused('schema', problems);
  return {
    actions: read,
    inRoles: entityTypes.Principal?.memberOfTypes?.includes('Role') === true,
  };
}

function isEmpty(types: unknown): boolean {
  return !Array.isArray(types) || types.length === 0;
}

function checkEntities(entityTypes: Declared, problems: string[]): void {
  for (const [name, { memberOfTypes = [], shape, tags }] of Object.entries(entityTypes)) {
    const within = Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : undefined;
    if (within === undefined) {
      problems.push(
        `no request has the entity type ${name}; the types are ${Object.keys(ENTITIES).join(', ')}`,
      );
      continue;
    }
    const other = (memberOfTypes as string[]).find((type) => !within.includes(type));
    if (other !== undefined) problems.push(`a ${name} is never in a ${other}`);
    if (
      Object.keys(shape?.attributes ?? {}).length > 0 ||
      (shape !== undefined && shape.type !== 'Record')
    )
      problems.push(`${name} declares attributes, but the entities have none`);
    if (tags !== undefined) problems.push(`${name} declares tags, but the entities have none`);
  }
}

function shownOf(action: string, appliesTo: Declared, types: Types, problems: string[]): Shown {
  for (const [what, only] of [
    ['principalTypes', 'Principal'],
    ['resourceTypes', 'Trajectory'],
  ] as const) {
    const declared = appliesTo[what] as readonly string[];
    if (declared.length !== 1 || declared[0] !== only)
      problems.push(
        `the action ${action} applies to ${declared.join(', ')}, but must apply to ${only}`,
      );
  }
  const attributes: Attribute[] = [];
  const shown: { -readonly [Part in keyof Shown]: Shown[Part] } = {
    attributes,
    params: undefined,
    args: undefined,
    call: undefined,
  };
  const place = `the context of ${action}`;
  for (const { name, type, required } of types.members(appliesTo['context'], place, problems)) {
    if (name === 'params')
      shown.params = paramsOf(
        types.members(type, `${place}, params`, problems),
        place,
        problems,
        types,
      );
    else if (name === 'args') shown.args = argsOf(type, 'args', place, problems, types);
    else if (name === 'call')
      shown.call = { required, inputs: inputsOf(type, place, problems, types) };
    else if (!Object.hasOwn(ATTRIBUTES, name))
      problems.push(
        `${place} has ${name}; it can have ${Object.keys(ATTRIBUTES).join(', ')}, params, args and call`,
      );
    else {
      const kind = ATTRIBUTES[name] as Kind;
      if (JSON.stringify(types.kind(type)) !== JSON.stringify(kind))
        problems.push(`${place} has ${name} with another type than ${kindText(kind)}`);
      attributes.push({ name, kind, required });
    }
  }
  return shown;
}

interface Member {
  readonly name: string;
  readonly type: Json;
  readonly required: boolean;
}

function paramsOf(
  members: readonly Member[],
  place: string,
  problems: string[],
  types: Types,
): Attribute[] {
  return members.map(({ name, type, required }) => {
    checkName(name, place, problems);
    if (types.kind(type) !== 'String')
      problems.push(`${place} has params.${name}, which must be a String`);
    return { name, kind: 'String', required };
  });
}

/** `what`: the name of the record in the context. */
function argsOf(
  record: Json,
  what: string,
  place: string,
  problems: string[],
  types: Types,
): Argument[] {
  return types.members(record, `${place}, ${what}`, problems).map(({ name, type, required }) => {
    const kind = types.kind(type);
    checkName(name, place, problems);
    if (kind === undefined || kind === 'datetime') {
      problems.push(
        `${place} has ${what}.${name}, which can be String, Long, Bool, decimal, or a Set of one of the first three`,
      );
    }
    return {
      name,
      kind: kind ?? 'String',
      required,
      path: pathOf(name, `${place} has ${what}.${name}`, problems),
    };
  });
}

/** The inputs by tool. A request has one call, so one required tool leaves no room for another. */
function inputsOf(
  record: Json,
  place: string,
  problems: string[],
  types: Types,
): ReadonlyMap<string, readonly Argument[]> {
  const tools = types.members(record, `${place}, call`, problems);
  if (tools.length === 0) problems.push(`${place} has call without a tool`);
  const inputs = tools.map(({ name, type, required }) => {
    if (!isToolName(name))
      problems.push(`${place} has call.${name}, which is not the name of a tool`);
    if (required && tools.length > 1)
      problems.push(
        `${place} requires call.${name}, but each request has one call; make it optional`,
      );
    return [name, argsOf(type, `call.${name}`, place, problems, types)] as const;
  });
  return new Map(inputs);
}

/** In Cedar's JSON form these fields mark an escape and not data. */
function checkName(name: string, place: string, problems: string[]): void {
  if (['__entity', '__extn', '__expr'].includes(name))
    problems.push(`${place} has ${name}, which Cedar reserves`);
}

function pathOf(name: string, argument: string, problems: string[]): readonly string[] {
  if (name !== '' && !name.startsWith('/')) return [name];
  try {
    return parsePointer(name);
  } catch (error) {
    problems.push(`${argument}: ${(error as Error).message}`);
    return [];
  }
}

export function kindText(kind: Kind): string {
  return typeof kind === 'string' ? kind : `Set<${kind.setOf}>`;
}

const SCALARS: Readonly<Record<string, Kind>> = {
  String: 'String',
  Long: 'Long',
  Bool: 'Bool',
  Boolean: 'Bool',
  decimal: 'decimal',
  datetime: 'datetime',
};

/** The types of a JSON schema, with its named types. */
class Types {
  readonly #common: Declared;

  constructor(common: Declared) {
    this.#common = common;
  }

  /** The members of a record, or an empty list without a record. */
  members(type: unknown, place: string, problems: string[]): Member[] {
    if (type === undefined) return [];
    const record = this.#resolved(type);
    if (record['type'] !== 'Record') {
      problems.push(`${place} must be a record`);
      return [];
    }
    return Object.entries(record['attributes'] as Declared).map(([name, declared]) => ({
      name,
      type: declared,
      required: declared.required !== false,
    }));
  }

  /** Undefined for a type that is not supported. */
  kind(type: unknown): Kind | undefined {
    const resolved = this.#resolved(type);
    if (resolved['type'] === 'Set') {
      const element = this.kind(resolved['element']);
      return element === 'String' || element === 'Long' || element === 'Bool'
        ? { setOf: element }
        : undefined;
    }
    const name = nameOf(resolved);
    return Object.hasOwn(SCALARS, name) ? SCALARS[name] : undefined;
  }

  /** Cedar refuses recursive types. */
  #resolved(type: unknown): Declared {
    let resolved = type as Declared;
    while (Object.hasOwn(this.#common, nameOf(resolved))) resolved = this.#common[nameOf(resolved)];
    return resolved;
  }
}

function nameOf({ type, name }: Declared): string {
  const given: string = type === 'EntityOrCommon' || type === 'Extension' ? name : type;
  return given.replace(/^__cedar::/, '');
}
