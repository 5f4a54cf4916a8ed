/** What a step of work may touch, as JSON-pointer prefixes; `*` is any key, `{param}` a role's parameter. */
export interface Process {
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
}

/** A job: which processes its holder may perform, and for which one (patient, vulnerability) by parameter. */
export interface Role {
  readonly params?: readonly string[];
  readonly processes: readonly string[];
  /** If given, must equal the union of the processes' footprints (decisions §2.3). */
  readonly sees?: readonly string[];
}

export type RoleParams = { readonly [param: string]: string };

/** An observation as `apply` sees it. */
export interface Observed {
  readonly name: string;
  readonly value: unknown;
}
