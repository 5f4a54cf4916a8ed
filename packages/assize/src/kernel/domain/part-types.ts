import type { IsOpen, Unescaped } from './path-types.ts';

/**
 * The type of a state under a footprint, as `sliceOf` returns it: `Part<{a: {b: X; c: Y}}, '/a/b'>`
 * is `{a: {b: X}}`. `Paths` is a union of pointers, in which `*` is any key and `{param}` some key.
 * The type is never narrower than the value. Pointers that are not literals make every part
 * optional.
 */
export type StatePart<T, Paths extends string> = unknown extends T
  ? T
  : string extends Paths
    ? DeepPartial<T>
    : [Paths] extends [never]
      ? Record<never, never>
      : '' extends Paths
        ? T
        : T extends readonly (infer Item)[]
          ? (
              | Listed<MembersOf<Item, Paths, HeadOf<Paths>>>
              | (IsOneOpen<HeadOf<Paths>> extends true ? never : null)
            )[]
          : T extends object
            ? string extends keyof T
              ? { [key: string]: MembersOf<T[keyof T], Paths, HeadOf<Paths>> }
              : Members<T, Paths>
            : undefined;

/** A list keeps the places of hidden elements, as null. */
type Listed<Item> = Item extends undefined ? null : Item;

type IsOneOpen<Head extends string> = [Head] extends ['*'] ? true : false;

/**
 * For a record or list: a key can fall under several heads, so a member shows one part or the
 * other.
 */
type MembersOf<Value, Paths extends string, Head extends string> = Head extends unknown
  ? StatePart<Value, TailOf<Paths, Head>>
  : never;

/**
 * For an object: keys that are named or matched by a star are visible. Keys that a parameter may
 * match are optional.
 */
type Members<T extends object, Paths extends string> = {
  [Key in keyof T as Key extends SureKey<T, Paths> ? Key : never]: StatePart<
    T[Key],
    TailAt<Paths, Key>
  >;
} & {
  [Key in keyof T as Key extends SureKey<T, Paths>
    ? never
    : HasParam<HeadOf<Paths>> extends true
      ? Key
      : never]?: StatePart<T[Key], TailOf<Paths, ParamOf<HeadOf<Paths>>>>;
};

type SureKey<T, Paths extends string> = {
  [Key in keyof T]-?: [TailAt<Paths, Key>] extends [never] ? never : Key;
}[keyof T];

/**
 * The rest of the pointers that surely go through a key. A list that can only grow is not visible.
 */
type TailAt<Paths extends string, Key> = Paths extends unknown
  ? HeadOf<Paths> extends infer Head extends string
    ? Head extends '*'
      ? TailOf<Paths, Head>
      : Unescaped<Head> extends Key
        ? TailOf<Paths, Head>
        : never
    : never
  : never;

type HeadOf<Path extends string> = Path extends `/${infer Head}/${string}`
  ? Head
  : Path extends `/${infer Last}`
    ? Last
    : never;

/**
 * The rest behind a head. `/log/-` has no rest behind `log`: a list that can only grow is not
 * visible.
 */
type TailOf<Paths extends string, Head extends string> = Paths extends `/${Head}/-`
  ? never
  : Paths extends `/${Head}`
    ? ''
    : Paths extends `/${Head}/${infer Rest}`
      ? `/${Rest}`
      : never;

type ParamOf<Head extends string> = Head extends '*'
  ? never
  : IsOpen<Head> extends true
    ? Head
    : never;

type HasParam<Head extends string> = [ParamOf<Head>] extends [never] ? false : true;

/** Every part optional, at every depth. */
export type DeepPartial<T> = 0 extends 1 & T
  ? any
  : T extends readonly (infer Item)[]
    ? (DeepPartial<Item> | null)[]
    : T extends object
      ? { [Key in keyof T]?: DeepPartial<T[Key]> | undefined }
      : T;

/** Read-only at every depth. */
export type DeepReadonly<T> = 0 extends 1 & T
  ? any
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;
