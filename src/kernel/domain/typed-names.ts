import type { Domain } from './define-domain.ts';
import type { Process, Role, RoleParams } from './domain-spec.ts';
import type { Part, Unwritable } from './part-types.ts';

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

type IsAny<T> = 0 extends 1 & T ? true : false;

type WordsOf<D> = D extends Domain<any, any, infer Words> ? Words : never;

/** Whether so little is known of a domain that everything must be allowed. */
export type IsUntyped<D> = IsAny<D> extends true ? true : IsAny<WordsOf<D>['roles']>;

/** The actions of a domain, by name. */
export type ActionName<D extends Domain> = D extends Domain<any, infer Actions> ? keyof Actions & string : never;

/** The roles of a domain, by name. */
export type RoleName<D extends Domain> = IsUntyped<D> extends true ? string : keyof WordsOf<D>['roles'] & string;

/** The arguments of an action as they are proposed. */
export type ArgsOf<D extends Domain, Name extends ActionName<D>> = WordsOf<D>['inputs'][Name];

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
type Performing<Roles, Process> = {
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

/** Who proposes an action: a role that performs its process, with its parameters; the name alone where it has none. */
export type RoleFor<D extends Domain, Name extends ActionName<D>> = RoleRefs<
  WordsOf<D>['roles'],
  Performing<WordsOf<D>['roles'], WordsOf<D>['performs'][Name]>
>;

type RoleRefs<Roles, Name> = Name extends keyof Roles & string
  ? Roles[Name] extends Role
    ?
        | { readonly name: Name; readonly params: ParamsOf<Roles[Name]> }
        | (Record<never, never> extends ParamsOf<Roles[Name]> ? Name : never)
    : never
  : never;

/** The parameters of a role where it is named: needed where it has some. */
export type RoleArguments<D extends Domain, Name> =
  IsUntyped<D> extends true
    ? [params?: RoleParams]
    : Name extends keyof WordsOf<D>['roles']
      ? Record<never, never> extends ParamsOf<WordsOf<D>['roles'][Name]>
        ? [params?: ParamsOf<WordsOf<D>['roles'][Name]>]
        : [params: ParamsOf<WordsOf<D>['roles'][Name]>]
      : never;

/** What a role sees of the state (Definition A.7): a copy, in which to write changes nothing, so that is an error. */
export type SliceOf<D extends Domain, Name> =
  IsUntyped<D> extends true
    ? unknown
    : D extends Domain<infer State, any, infer Words>
      ? Name extends keyof Words['roles']
        ? Unwritable<Part<State, FootprintOf<Words, Words['roles'][Name]['processes'][number]>>>
        : never
      : never;

/** Where it is not known which processes, neither is what they touch. */
type FootprintOf<Words extends DomainWords, Name extends string> = string extends Name
  ? string
  : Name extends keyof Words['processes']
    ? PathsOf<Words['processes'][Name], 'reads'> | PathsOf<Words['processes'][Name], 'writes'>
    : never;

type PathsOf<P, Way extends string> = P extends { readonly [way in Way]: readonly (infer Path extends string)[] }
  ? Path
  : P extends { readonly [way in Way]?: readonly (infer Path extends string)[] | undefined }
    ? Path
    : never;
