import type { Domain } from './domain.ts';
import type { DomainWords, IsAny, ParamsOf, Performing } from './domain-words.ts';
import type { DeepReadonly, StatePart } from './part-types.ts';
import type { Role, RoleParams } from './role.ts';

type WordsOf<D> = D extends Domain<any, any, infer Words> ? Words : never;

/** Whether the domain's types are unknown, so that everything must be allowed. */
export type IsUntyped<D> = IsAny<D> extends true ? true : IsAny<WordsOf<D>['roles']>;

/** The actions of a domain, by name. */
export type ActionName<D extends Domain> =
  D extends Domain<any, infer Actions> ? keyof Actions & string : never;

/** The roles of a domain, by name. */
export type RoleName<D extends Domain> =
  IsUntyped<D> extends true ? string : keyof WordsOf<D>['roles'] & string;

/** The arguments of an action as they are proposed. */
export type ArgsOf<D extends Domain, Name extends ActionName<D>> = WordsOf<D>['inputs'][Name];
/**
 * The role that proposes an action: a role of its process with its parameters, or the name alone if
 * it has none.
 */
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

/** Whether nothing is known of the actions of a domain, so that any intent must be allowed. */
export type IsUnknown<D extends Domain> =
  IsUntyped<D> extends true ? (string extends ActionName<D> ? true : false) : false;

/**
 * An action with its arguments and the role that proposes it. A domain that declares no roles has
 * one that need not be named.
 */
export type IntentOf<D extends Domain, Name extends ActionName<D>> = {
  readonly action: Name;
  readonly args: ArgsOf<D, Name>;
} & (IsUntyped<D> extends true
  ? { readonly role?: string | { readonly name: string; readonly params: RoleParams } }
  : { readonly role: RoleFor<D, Name> });

/** The parameters of a named role, required if the role has some. */
export type RoleArguments<D extends Domain, Name> =
  IsUntyped<D> extends true
    ? [params?: RoleParams]
    : Name extends keyof WordsOf<D>['roles']
      ? Record<never, never> extends ParamsOf<WordsOf<D>['roles'][Name]>
        ? [params?: ParamsOf<WordsOf<D>['roles'][Name]>]
        : [params: ParamsOf<WordsOf<D>['roles'][Name]>]
      : never;

/**
 * The part of the state that a role sees (Agentic Redux, Definition A.7). It is a copy, so writing
 * to it is a type error.
 */
export type SliceOf<D extends Domain, Name> =
  IsUntyped<D> extends true
    ? unknown
    : D extends Domain<infer State, any, infer Words>
      ? Name extends keyof Words['roles']
        ? DeepReadonly<
            StatePart<State, FootprintOf<Words, Words['roles'][Name]['processes'][number]>>
          >
        : never
      : never;

/** If the processes are unknown, so is the footprint. */
type FootprintOf<Words extends DomainWords, Name extends string> = string extends Name
  ? string
  : Name extends keyof Words['processes']
    ? PathsOf<Words['processes'][Name], 'reads'> | PathsOf<Words['processes'][Name], 'writes'>
    : never;

type PathsOf<P, Way extends string> = P extends {
  readonly [way in Way]: readonly (infer Path extends string)[];
}
  ? Path
  : P extends { readonly [way in Way]?: readonly (infer Path extends string)[] | undefined }
    ? Path
    : never;
