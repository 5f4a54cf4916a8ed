import { z } from 'zod';

/**
 * A reviewed advisory as a vulnerability database has it, in the terms of OSV. Other fields are
 * stored unread.
 */
export interface Advisory {
  readonly id: string;
  /** Other names of the same vulnerability, CVE identifiers among them. */
  readonly aliases: readonly string[];
  /** Modules, each with the versions in which it is fixed. */
  readonly affected: readonly { readonly module: string; readonly fixed: readonly string[] }[];
  readonly credits: readonly string[];
  readonly references: readonly { readonly type: string; readonly url: string }[];
  readonly review_status: string;
}

export const advisory: z.ZodType<Advisory> = z.looseObject({
  id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/),
  aliases: z.array(z.string()),
  affected: z
    .array(z.looseObject({ module: z.string().min(1).max(128), fixed: z.array(z.string()) }))
    .min(1),
  credits: z.array(z.string()),
  references: z.array(z.looseObject({ type: z.string(), url: z.string().min(1).max(2_000) })),
  review_status: z.string(),
});

const CVE = /^CVE-[0-9]{4}-[0-9]{4,}$/;

/** The CVE identifiers of an advisory, each once, in order: some records list one twice. */
export function cvesOf({ aliases }: Advisory): string[] {
  return [...new Set(aliases.filter((alias) => CVE.test(alias)))].sort();
}

/**
 * The receiver of the report: the first affected module's owner, as its path begins, and the module
 * as the maintainer's.
 */
export function receiverOf({ affected }: Advisory): { organisation: string; maintainer: string } {
  const module = affected[0]?.module ?? '';
  const names = module.split('/');
  const owner = names.slice(0, names.length > 2 ? 2 : 1).join('/');
  return { organisation: idOf(owner), maintainer: idOf(module) };
}

/** The place of a patch's development: a reference for the fix, or else only the release. */
export function developedAt(
  record: Advisory,
): { kind: 'commit' | 'release'; reference: string } | undefined {
  const fix = record.references.find(({ type }) => type === 'FIX');
  if (fix !== undefined) return { kind: 'commit', reference: fix.url };
  const release = releasedAs(record);
  return release === undefined ? undefined : { kind: 'release', reference: release };
}

/** The first version that a fix was released in, of the first module that has one. */
export function releasedAs({ affected }: Advisory): string | undefined {
  const fixed = affected.find((one) => one.fixed.length > 0);
  return fixed === undefined ? undefined : `${fixed.module}@${fixed.fixed[0]}`;
}

/** A text as a key of the domain. */
function idOf(text: string): string {
  return text.replaceAll('/', ':').replaceAll(/[^A-Za-z0-9._:@-]/g, '_');
}
