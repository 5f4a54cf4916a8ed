/**
 * The paths that a step of work can touch, as JSON-pointer prefixes. `*` is any key, `{param}` a
 * role's parameter.
 */
export interface Process {
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
}

/**
 * A job: the processes that its holder may perform. Parameters name the patient, vulnerability or
 * other object.
 */
export interface Role {
  readonly params?: readonly string[];
  readonly processes: readonly string[];
  /**
   * If given, must equal the union of the processes' footprints
   * (docs/decisions/008-footprints-and-slices.md).
   */
  readonly sees?: readonly string[];
}

export type RoleParams = { readonly [param: string]: string };

/** An observation as `apply` sees it. */
export interface Observed {
  readonly name: string;
  readonly value: unknown;
}
