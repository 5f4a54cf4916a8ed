import { parse } from 'node:path';
import {
  badFile,
  CliError,
  domainsNamed,
  importModule,
  lookedAt,
  policyFrom,
  warnOfUnknownActions,
  whyOf,
} from '@assize/command';
import type { WritChain } from 'assize/host';
import type { Policy } from 'assize/internal/authority';
import type { Domain } from 'assize/internal/kernel';
import type { People, Variant } from '#agents';
import type { ChatModel } from '#models';
import { type AgentsFile, agentsOf, loadAgentsFile } from './agents-file.ts';
import { chatModelOf } from './chat-model.ts';

/** The options of the command line for variants. Each list is one dimension of them. */
export interface VariantOptions {
  readonly variants?: string;
  readonly model: readonly string[];
  readonly textTools?: boolean;
  readonly policy: readonly string[];
  readonly schema?: string;
  readonly instead: readonly string[];
  readonly baseline?: boolean;
  readonly people?: string;
  readonly fresh?: boolean;
}

/** The inputs of agents, except their model. */
export interface VariantInputs {
  readonly domain: Domain;
  readonly writs: readonly WritChain[];
  readonly signal: AbortSignal;
}

/**
 * One variant for each combination of an agents file, a model, a policy and a version of the
 * domain, and those that the file of `--variants` exports. Empty without a file. `baseline`: also
 * the combinations without a policy of the line, and without a version.
 *
 * @throws CliError; ModelError; ArgumentError
 */
export async function variantsOf(
  files: readonly string[],
  options: VariantOptions,
  inputs: VariantInputs,
): Promise<Variant[]> {
  const people = options.people === undefined ? undefined : peopleIn(options.people);
  const common = {
    ...(people !== undefined && { people }),
    ...(options.fresh === true && { fresh: true }),
  };
  const { models, policies, domains } = await dimensionsOf(options, inputs.domain);
  const found: Variant[] = [];
  for (const file of files) {
    const loaded = await loadAgentsFile(file);
    for (const [modelName, model] of models)
      for (const [policyName, policy] of policies)
        for (const [domainName, domain] of domains) {
          const agents = await agentsOf(loaded, {
            ...inputs,
            model,
            domain: domain ?? inputs.domain,
          });
          const name = [parse(loaded.path).name, modelName, policyName, domainName]
            .filter((part) => part !== '')
            .join(' ');
          found.push({
            name,
            agents,
            ...(policy && { policy }),
            ...(domain && { domain }),
            ...common,
          });
        }
  }
  if (options.variants !== undefined) {
    const [[, model]] = models as [readonly [string, ChatModel | undefined]];
    found.push(...(await exportedVariants(options.variants, { ...inputs, model }, common)));
  }
  return found;
}

type Dimension<T> = readonly (readonly [name: string, value: T | undefined])[];

async function dimensionsOf(
  options: VariantOptions,
  domain: Domain,
): Promise<{
  readonly models: Dimension<ChatModel>;
  readonly policies: Dimension<Policy>;
  readonly domains: Dimension<Domain>;
}> {
  const { model, textTools = false, policy, schema, instead, baseline = false } = options;
  if (schema !== undefined && !policy.some(isCedar))
    throw new CliError(
      'usage',
      'The option --schema needs a Cedar policy. Pass --policy FILE.cedar.',
    );
  const policies = await Promise.all(
    policy.map(
      async (path) =>
        [parse(path).base, await policyFrom({ policy: path, ...schemaFor(path, schema) })] as const,
    ),
  );
  for (const path of policy) warnOfUnknownActions(path, domain);
  const domains = (await Promise.all(instead.map((text) => versionsOf(text, domain)))).flat();
  return {
    models: orNone(namedModels(model, textTools)),
    policies: orNone(policies, baseline),
    domains: orNone(
      domains.map((version) => [`${version.name}@${version.version}`, version] as const),
      baseline,
    ),
  };
}

/** The versions of the trajectory's domain that an argument names. @throws CliError */
async function versionsOf(text: string, { name }: Domain): Promise<Domain[]> {
  const found = await domainsNamed(text);
  const versions = found.filter((domain) => domain.name === name);
  if (versions.length > 0) return versions;
  const others = [...new Set(found.map((domain) => domain.name))].join(', ');
  throw new CliError(
    'usage',
    `--instead ${text} names the domain ${others}, and the trajectory has ${name}. Pass a version of ${name}.`,
  );
}

function schemaFor(path: string, schema: string | undefined): { readonly schema?: string } {
  return schema === undefined || !isCedar(path) ? {} : { schema };
}

function isCedar(path: string): boolean {
  return path.endsWith('.cedar');
}

/** An empty dimension has one element. `baseline`: so has any, as its first. */
function orNone<T>(dimension: Dimension<T>, baseline = false): Dimension<T> {
  return dimension.length === 0 || baseline ? [['', undefined], ...dimension] : dimension;
}

/** A variant of a file. Its agents may be descriptions for the model of `--model`. */
type VariantEntry = Omit<Variant, 'agents'> & { readonly agents?: unknown };

async function exportedVariants(
  file: string,
  inputs: VariantInputs & { readonly model: ChatModel | undefined },
  common: Partial<Variant>,
): Promise<Variant[]> {
  const module = await importModule(file, 'variants', 'Name a module that exports variants');
  const exported = lookedAt(
    file,
    'variants',
    () => (module as { readonly variants?: unknown }).variants,
  );
  const list: unknown =
    typeof exported === 'function' ? await made(file, exported as never, inputs) : exported;
  if (!Array.isArray(list)) throw badFile(file, 'it exports no list variants; export one');
  if (list.length === 0) throw badFile(file, 'its list variants is empty; add a variant');
  return Promise.all(
    list.map(async (entry: VariantEntry | null, i) => {
      if (typeof entry !== 'object' || entry === null)
        throw badFile(file, `variant ${i + 1} is not an object`);
      const agents = entry.agents as AgentsFile['agents'];
      if (typeof agents !== 'function' && !Array.isArray(agents))
        throw badFile(
          file,
          `variant ${i + 1} has no agents; give it a list, or a function that returns one`,
        );
      const domain = entry.domain ?? inputs.domain;
      const loaded = { path: file, domain, trajectory: undefined, agents };
      return { ...common, ...entry, agents: await agentsOf(loaded, { ...inputs, domain }) };
    }),
  );
}

async function made(
  file: string,
  make: (...given: any[]) => unknown,
  inputs: object,
): Promise<unknown> {
  try {
    return await make(inputs);
  } catch (cause) {
    throw new CliError(
      'bad_input',
      `The function variants of ${file} failed: ${whyOf(cause).replace(/\.$/, '')}.`,
      {
        cause,
      },
    );
  }
}

/** @throws CliError `usage` */
function peopleIn(text: string): People {
  if (text === 'recorded') return 'as_recorded';
  if (text === 'wait') return text;
  const [, does, principal] = /^(approve|reject):(.+)$/.exec(text) ?? [];
  if (principal !== undefined)
    return does === 'approve' ? { approve: principal } : { reject: principal };
  throw new CliError(
    'usage',
    'The option --people is not valid. Pass recorded, wait, approve:PRINCIPAL or reject:PRINCIPAL.',
  );
}

/**
 * The models of the option `--model`, each with its name among them. Two servers of one model name
 * are two models: the host tells them apart, also in recorded questions, so that neither has the
 * answers of the other.
 *
 * @throws CliError `usage`; ModelError `bad_argument`
 */
function namedModels(
  texts: readonly string[],
  textTools: boolean,
): readonly (readonly [name: string, model: ChatModel])[] {
  const models = texts.map((text) => ({
    text,
    name: nameIn(text),
    model: chatModelOf(text, textTools),
  }));
  const named = models.map(({ text, name, model }): readonly [string, ChatModel] => {
    if (models.filter((other) => other.name === name).length === 1) return [name, model];
    const own = `${name}@${placeIn(text)}`;
    return [own, Object.freeze({ ...model, id: own })];
  });
  const names = named.map(([name]) => name);
  const twice = names.find((name, n) => names.indexOf(name) !== n);
  if (twice !== undefined)
    throw new CliError('usage', `The model ${twice} is given twice. Pass --model once for it.`);
  return named;
}

function nameIn(text: string): string {
  return text.replace(/@https?:\/\/.*$/, '');
}

/** The server, without a user and a password. The provider's own one has no address. */
function placeIn(text: string): string {
  const address = text.slice(nameIn(text).length + 1);
  if (address === '') return 'provider';
  const { host, pathname } = new URL(address);
  return `${host}${pathname.replace(/\/(v1\/?)?$/, '')}`;
}
