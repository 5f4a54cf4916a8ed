import type { Entity, Ontology } from '../ontology.ts';

/** An ontology in which every class, process, role, rule, path and counselor has another name. */
export interface Renamed {
  readonly ontology: Ontology;
  /** The new name of each old one. */
  readonly nameOf: (old: string) => string;
}

/** Renames everything. Each `salt` gives other names. They sort in another order. */
export function renamedOntology(ontology: Ontology, salt: number): Renamed {
  const names = new Map<string, string>();
  const nameOf = (old: string): string => {
    if (!names.has(old)) names.set(old, `n${scrambled(names.size + 1, salt)}`);
    return names.get(old) as string;
  };
  const { continuants, components, processes, roles, rules, audits, others } = ontology;
  const own = new Set(
    [...continuants, ...components, ...processes, ...roles, ...rules, ...audits, ...others].map(
      ({ term }) => term,
    ),
  );
  const termOf = (term: string): string => (own.has(term) ? `:${nameOf(term)}` : term);
  const terms = (list: readonly string[]): string[] => list.map(termOf);
  const entity = <E extends Entity>(one: E): E => ({
    ...one,
    ...{ term: termOf(one.term), label: nameOf(one.label), parents: terms(one.parents) },
    ...{ inheresIn: terms(one.inheresIn), about: terms(one.about) },
  });
  return {
    nameOf: (old) => (own.has(old) ? termOf(old) : nameOf(old)),
    ontology: {
      ...ontology,
      domain: nameOf(ontology.domain),
      continuants: continuants.map(entity),
      components: components.map((one) => ({
        ...entity(one),
        paths: one.paths.map((path) => pathOf(path, nameOf)),
      })),
      processes: processes.map((one) => ({
        ...entity(one),
        ...{
          process: nameOf(one.process),
          participants: terms(one.participants),
          after: terms(one.after),
        },
        ...{
          reads: terms(one.reads),
          writes: terms(one.writes),
          preconditions: terms(one.preconditions),
        },
        ...{ apartFrom: terms(one.apartFrom), togetherWith: terms(one.togetherWith) },
      })),
      roles: roles.map((one) => ({
        ...entity(one),
        role: nameOf(one.role),
        realizedIn: terms(one.realizedIn),
      })),
      rules: rules.map((one) => ({
        ...entity(one),
        ...{
          rule: nameOf(one.rule),
          refersTo: terms(one.refersTo),
          forEach: one.forEach.map(nameOf),
        },
        ...{ after: terms(one.after), notBefore: terms(one.notBefore) },
        counselor: one.counselor === '' ? '' : nameOf(one.counselor),
      })),
      audits: audits.map(entity),
      others: others.map(entity),
    },
  };
}

function pathOf(path: string, nameOf: (old: string) => string): string {
  const renamed = (key: string): string => {
    if (key === '' || key === '*' || key === '-') return key;
    return key.startsWith('{') ? `{${nameOf(key.slice(1, -1))}}` : nameOf(`/${key}`);
  };
  return path.split('/').map(renamed).join('/');
}

/** Another number of five digits for each number below 10,007. */
function scrambled(n: number, salt: number): string {
  return String(((n * 7_919 + salt * 104_729) % 10_007) + 10_000);
}
