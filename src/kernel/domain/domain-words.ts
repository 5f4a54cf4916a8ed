import type { Process, Role, RoleParams } from './role.ts';

/**
 * The words of a domain that proposals and slices are typed by, beside its state and arguments. They are types only:
 * nothing of them exists at run time. `any` stands for a domain that is not known where it is used.
 */
export interface DomainWords {
  readonly roles: Readonly<Record<string, Role>>;
  readonly processes: Readonly<Record<string, Process>>;
  /** The process of each action. */
  readonly performs: Readonly<Record<string, string>>;
  /** Arguments by action as they are proposed: before parsing, which may add defaults. */
  readonly inputs: Readonly<Record<string, unknown>>;
}

export type IsAny<T> = 0 extends 1 & T ? true : false;

/** What a role wants for its parameters; those of a role whose parameters are no literals are any texts. */
export type ParamsOf<R extends Role> = R extends { readonly params: readonly (infer Param extends string)[] }
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

/** The roles that perform a process. */
export type Performing<Roles, Process> = {
  [Name in keyof Roles]: Roles[Name] extends { readonly processes: readonly (infer Performed)[] }
    ? Process extends Performed
      ? Name
      : never
    : never;
}[keyof Roles];

/** Parameters that `apply` may count on: one of the roles that perform its process holds. */
export type ParamsOfAction<Words extends DomainWords, Name> =
  IsAny<Words['roles']> extends true
    ? RoleParams
    : Name extends keyof Words['performs']
      ? [Performing<Words['roles'], Words['performs'][Name]>] extends [never]
        ? RoleParams
        : ParamsOf<Words['roles'][Performing<Words['roles'], Words['performs'][Name]>]>
      : RoleParams;
