import type { Json } from '#base';
import { parsePointer } from '#canon';
import type { CedarEngine } from './engine.ts';
import { sayingOf } from './engine.ts';
import { refused } from './errors.ts';

/** The Cedar type of one value. A set has strings, integers or booleans. */
export type Kind = 'String' | 'Long' | 'Bool' | 'decimal' | 'datetime' | { readonly setOf: 'String' | 'Long' | 'Bool' };

export interface Attribute {
  readonly name: string;
  readonly kind: Kind;
  readonly required: boolean;
}

/**
 * An argument that policies can read: a field of the arguments, or a place in them if its name is a
 * JSON pointer.
 */
export interface Argument extends Attribute {
  readonly path: readonly string[];
}

/**
 * The parts of a proposal that the schema shows to policies for one action. Cedar receives nothing
 * else.
 */
export interface Shown {
  readonly attributes: readonly Attribute[];
  readonly params: readonly Attribute[] | undefined;
  readonly args: readonly Argument[] | undefined;
}

export interface ReadSchema {
  readonly actions: ReadonlyMap<string, Shown>;
  /** Whether the request puts a principal in its role. */
  readonly inRoles: boolean;
}

/** The context attributes that are allowed besides `params` and `args`. */
const ATTRIBUTES: Readonly<Record<string, Kind>> = {
  role: 'String',
  writ: 'String',
  at: 'datetime',
  scopes: { setOf: 'String' },
};

const ENTITIES: Readonly<Record<string, readonly string[]>> = { Principal: ['Role'], Role: [], Trajectory: [] };

type Declared = { readonly [name: string]: any };

/**
 * Reads the actions and the parts of a proposal that each can read. A declaration that no request
 * can fulfil is refused: it would be a rule that never applies, or an error at every question.
 *
 * @throws CedarError `bad_schema`
 */
export function readSchema(engine: CedarEngine, schema: string | object): ReadSchema {
  const answer = engine.schemaToJson(schema);
  if (answer.type === 'failure') {
    const text = typeof schema === 'string' ? schema : undefined;
    throw refused(
      'bad_schema',
      answer.errors.map((error) => sayingOf(error, text)),
    );
  }
  const problems: string[] = [];
  const namespaces = answer.json as Declared;
  const named = Object.keys(namespaces).filter((name) => name !== '');
  if (named.length > 0)
    problems.push(`it has the namespace ${named.join(', ')}; declare everything without a namespace`);
  const { commonTypes = {}, entityTypes = {}, actions = {} } = (namespaces[''] ?? {}) as Declared;
  checkEntities(entityTypes, problems);
  const read = new Map<string, Shown>();
  for (const [name, action] of Object.entries(actions as Declared)) {
    const { appliesTo = {} } = action;
    // No request names a group of actions.
    if (isEmpty(appliesTo.principalTypes) || isEmpty(appliesTo.resourceTypes)) continue;
    read.set(name, shownOf(name, appliesTo, new Types(commonTypes), problems));
  }
  if (problems.length > 0) throw refused('bad_schema', problems);
  return { actions: read, inRoles: entityTypes.Principal?.memberOfTypes?.includes('Role') === true };
}

function isEmpty(types: unknown): boolean {
  return !Array.isArray(types) || types.length === 0;
}

function checkEntities(entityTypes: Declared, problems: string[]): void {
  for (const [name, { memberOfTypes = [], shape, tags }] of Object.entries(entityTypes)) {
    const within = Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : undefined;
    if (within === undefined) {
      problems.push(`no request has the entity type ${name}; the types are ${Object.keys(ENTITIES).join(', ')}`);
      continue;
    }
    const other = (memberOfTypes as string[]).find((type) => !within.includes(type));
    if (other !== undefined) problems.push(`a ${name} is never in a ${other}`);
    if (Object.keys(shape?.attributes ?? {}).length > 0 || (shape !== undefined && shape.type !== 'Record'))
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
      problems.push(`the action ${action} applies to ${declared.join(', ')}, but must apply to ${only}`);
  }
  const shown: { attributes: Attribute[]; params: Attribute[] | undefined; args: Argument[] | undefined } = {
    attributes: [],
    params: undefined,
    args: undefined,
  };
  const place = `the context of ${action}`;
  for (const { name, type, required } of types.members(appliesTo['context'], place, problems)) {
    if (name === 'params')
      shown.params = paramsOf(types.members(type, `${place}, params`, problems), place, problems, types);
    else if (name === 'args')
      shown.args = argsOf(types.members(type, `${place}, args`, problems), place, problems, types);
    else if (!Object.hasOwn(ATTRIBUTES, name))
      problems.push(`${place} has ${name}; it can have ${Object.keys(ATTRIBUTES).join(', ')}, params and args`);
    else {
      const kind = ATTRIBUTES[name] as Kind;
      if (JSON.stringify(types.kind(type)) !== JSON.stringify(kind))
        problems.push(`${place} has ${name} with another type than ${kindText(kind)}`);
      shown.attributes.push({ name, kind, required });
    }
  }
  return shown;
}

interface Member {
  readonly name: string;
  readonly type: Json;
  readonly required: boolean;
}

function paramsOf(members: readonly Member[], place: string, problems: string[], types: Types): Attribute[] {
  return members.map(({ name, type, required }) => {
    checkName(name, place, problems);
    if (types.kind(type) !== 'String') problems.push(`${place} has params.${name}, which must be a String`);
    return { name, kind: 'String', required };
  });
}

function argsOf(members: readonly Member[], place: string, problems: string[], types: Types): Argument[] {
  return members.map(({ name, type, required }) => {
    const kind = types.kind(type);
    checkName(name, place, problems);
    if (kind === undefined || kind === 'datetime') {
      problems.push(
        `${place} has args.${name}, which can be String, Long, Bool, decimal, or a Set of one of the first three`,
      );
    }
    return { name, kind: kind ?? 'String', required, path: pathOf(name, place, problems) };
  });
}

/** In Cedar's JSON form these fields mark an escape and not data. */
function checkName(name: string, place: string, problems: string[]): void {
  if (['__entity', '__extn', '__expr'].includes(name)) problems.push(`${place} has ${name}, which Cedar reserves`);
}

function pathOf(name: string, place: string, problems: string[]): readonly string[] {
  if (name !== '' && !name.startsWith('/')) return [name];
  try {
    return parsePointer(name);
  } catch (error) {
    problems.push(`${place} has args.${name}: ${(error as Error).message}`);
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
      return element === 'String' || element === 'Long' || element === 'Bool' ? { setOf: element } : undefined;
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
