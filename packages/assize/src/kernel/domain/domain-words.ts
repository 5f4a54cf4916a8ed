import type { Process, Role, RoleParams } from './role.ts';

/**
 * The types of a domain that proposals and slices need, other than its state and arguments. They
 * are types only and do not exist at run time. `any` stands for a domain that is unknown at the
 * place of use.
 */
export interface DomainWords {
  readonly roles: Readonly<Record<string, Role>>;
  readonly processes: Readonly<Record<string, Process>>;
  /** The process of each action; `unknown` for an action that names none. */
  readonly performs: Readonly<Record<string, unknown>>;
  /** Arguments by action as they are proposed, before parsing. Parsing may add defaults. */
  readonly inputs: Readonly<Record<string, unknown>>;
}

export type IsAny<T> = 0 extends 1 & T ? true : false;

/** The parameters that a role requires. Parameters that are not literals are arbitrary strings. */
export type ParamsOf<R extends Role> = R extends {
  readonly params: readonly (infer Param extends string)[];
}
  ? string extends Param
    ? RoleParams
    : { readonly [Name in Param]: string }
  : R extends { readonly params?: undefined }
    ? NoParams
    : string extends keyof R
      ? RoleParams
      : R extends { readonly params?: any }
        ? RoleParams
        : NoParams;

export type NoParams = { readonly [param: string]: never };

/** The roles that perform a process. All, for an action that names none: its domain has one. */
export type Performing<Roles, Process> = {
  [Name in keyof Roles]: unknown extends Process
    ? Name
    : Roles[Name] extends { readonly processes: readonly (infer Performed)[] }
      ? Process extends Performed
        ? Name
        : never
      : never;
}[keyof Roles];

/** The parameters that `apply` can count on: one of the roles that perform its process applies. */
export type ParamsOfAction<Words extends DomainWords, Name> =
  IsAny<Words['roles']> extends true
    ? RoleParams
    : Name extends keyof Words['performs']
      ? [Performing<Words['roles'], Words['performs'][Name]>] extends [never]
        ? RoleParams
        : ParamsOf<Words['roles'][Performing<Words['roles'], Words['performs'][Name]>]>
      : RoleParams;
