import { arg, checkArgument } from 'assize/internal/base';
import { readInstant, type Time } from 'assize/internal/canon';
import type { StatementMetadata } from 'assize/internal/kernel';
import { type FactRow, OPEN_END, OPEN_START } from 'assize/internal/memory';
import type { MemoryView } from 'assize/internal/runtime';
import { ChatMemoryError } from './errors.ts';
import { checkedMetadata } from './messages.ts';
import type { SpaceAliases } from './space-aliases.ts';
import { tokensOfTrust } from './trust.ts';

/** The facts that a recall may return. An absent member restricts nothing. */
export interface RecallFilter {
  /** Under any of their names. */
  readonly subjects?: readonly string[];
  readonly predicates?: readonly string[];
  /** Facts with a statement that has all of these members. */
  readonly metadata?: StatementMetadata;
  /** Facts with a statement by such an author: of the role, of the name, or of both. */
  readonly author?: { readonly role?: 'user' | 'assistant'; readonly name?: string };
  /** Facts that are valid at some time of the period. */
  readonly during?: { readonly from?: Time; readonly to?: Time };
  /** Facts of at least this confidence, from 0 to 1. */
  readonly confidenceMin?: number;
  /** Facts that a counselor, a policy version or a judge has chosen. */
  readonly trust?:
    | { readonly approver: string }
    | { readonly policy: string }
    | { readonly judge: string };
}

const FILTER = arg.all(
  arg.only(['subjects', 'predicates', 'metadata', 'author', 'during', 'confidenceMin', 'trust']),
  arg.members({
    subjects: arg.optional(arg.list(arg.text)),
    predicates: arg.optional(arg.list(arg.text)),
    metadata: arg.optional(arg.object),
    author: arg.optional(
      arg.all(
        arg.only(['role', 'name']),
        arg.members({
          role: arg.optional(arg.oneOf(['user', 'assistant'])),
          name: arg.optional(arg.text),
        }),
      ),
    ),
    during: arg.optional(arg.only(['from', 'to'])),
    confidenceMin: arg.optional(
      arg.of(
        'a number from 0 to 1',
        (given) => typeof given === 'number' && given >= 0 && given <= 1,
      ),
    ),
    trust: arg.optional(arg.only(['approver', 'policy', 'judge'])),
  }),
);

/**
 * @throws MemoryError `bad_metadata`; ChatMemoryError `bad_argument`; ArgumentError `bad_argument`
 */
export function checkFilter(filter: RecallFilter): void {
  checkArgument(FILTER, filter, 'filter');
  const { metadata, during, trust } = filter;
  if (metadata !== undefined) checkedMetadata(metadata);
  if (
    trust !== undefined &&
    (Object.keys(trust).length !== 1 ||
      Object.values(trust).some((name) => typeof name !== 'string'))
  )
    throw new ChatMemoryError(
      'bad_argument',
      'The trust of a filter is not valid. Name one of approver, policy and judge.',
    );
  for (const end of [during?.from, during?.to])
    if (end !== undefined && readInstant(end) === undefined)
      throw new ChatMemoryError(
        'bad_argument',
        'The period of a filter is not valid. Pass days or instants.',
      );
}

/** The part of a filter that a store applies: one subject or predicate with one name. */
export function storedFilter(
  { subjects, predicates }: RecallFilter,
  aliases: SpaceAliases,
): { readonly subject?: string; readonly predicate?: string } {
  const subject = onlyName(subjects?.flatMap((name) => aliases.names.namesOf(name)));
  const predicate = onlyName(predicates?.flatMap((name) => aliases.predicates.namesOf(name)));
  return {
    ...(subject !== undefined && { subject }),
    ...(predicate !== undefined && { predicate }),
  };
}

function onlyName(names: readonly string[] | undefined): string | undefined {
  return names?.length === 1 ? names[0] : undefined;
}

/**
 * The facts that pass. `noted` keeps whether a statement of a provenance has the metadata and the
 * author.
 *
 * @throws the errors of `MemoryView.sources`
 */
export async function filtered(
  facts: readonly FactRow[],
  filter: RecallFilter,
  aliases: SpaceAliases,
  view: MemoryView,
  noted: Map<string, boolean> = new Map(),
): Promise<readonly FactRow[]> {
  const passing = facts.filter((fact) => passes(fact, filter, aliases));
  const { metadata = {}, author = {} } = filter;
  if (filter.metadata === undefined && filter.author === undefined) return passing;
  const unread = passing.filter(({ provenance_id }) => !noted.has(provenance_id));
  for (const [n, sources] of (await view.sources(unread)).entries())
    noted.set(
      unread[n]!.provenance_id,
      sources.some((source) => hasAll(source.metadata, metadata) && hasAll(source.author, author)),
    );
  return passing.filter(({ provenance_id }) => noted.get(provenance_id));
}

function passes(
  fact: FactRow,
  { subjects, predicates, during, confidenceMin = 0, trust }: RecallFilter,
  { names, predicates: predicateNames }: SpaceAliases,
): boolean {
  if (subjects !== undefined && !subjects.some((name) => names.isSame(name, fact.subject)))
    return false;
  if (
    predicates !== undefined &&
    !predicates.some((name) => predicateNames.isSame(name, fact.predicate))
  )
    return false;
  if (fact.confidence < confidenceMin) return false;
  const from = during?.from === undefined ? OPEN_START : readInstant(during.from)!;
  const to = during?.to === undefined ? OPEN_END : readInstant(during.to)!;
  if (!(fact.valid_from < to && from < fact.valid_to)) return false;
  if (trust === undefined) return true;
  const [[kind, name]] = Object.entries(trust) as [[string, string]];
  return tokensOfTrust(fact).some((token) => token.kind === kind && token.name === name);
}

function hasAll(noted: object = {}, wanted: object): boolean {
  return Object.entries(wanted).every(
    ([name, value]) => Object.hasOwn(noted, name) && noted[name as keyof typeof noted] === value,
  );
}
