/**
 * The type of the value at a JSON pointer in a state: `At<{a: Record<string, X>}, '/a/*'>` is `X`.
 */
export type ValueAt<State, Path extends string> = Path extends ''
  ? State
  : Path extends `/${infer Head}/${infer Rest}`
    ? ValueAt<Member<State, Unescaped<Head>>, `/${Rest}`>
    : Path extends `/${infer Last}`
      ? Member<State, Unescaped<Last>>
      : any;

type Member<T, Key extends string> = T extends readonly (infer Item)[]
  ? IsElement<Key> extends true
    ? Item
    : any
  : Key extends keyof T
    ? T[Key]
    : string extends keyof T
      ? T[keyof T]
      : any;

/**
 * The pointer itself if the state has such a place. Otherwise a sentence that is not a pointer; the
 * compiler's error shows it. Pointers that the types cannot check (`any`, a pointer that is not a
 * literal) are allowed.
 */
export type ValidPointer<State, Path extends string> =
  true extends Has<State, Path> ? Path : `the state has no place ${Path}`;

/** The same for several pointers, by index or by name. */
export type ValidPointers<State, Paths> = {
  readonly [Name in keyof Paths]: Paths[Name] extends string
    ? ValidPointer<State, Paths[Name]>
    : Paths[Name];
};

/** Checks every member of a union. One member with the place is enough. */
type Has<T, Path extends string> = string extends Path
  ? true
  : Path extends ''
    ? true
    : Path extends `/${infer Head}/${infer Rest}`
      ? HasMember<T, Head, `/${Rest}`>
      : Path extends `/${infer Last}`
        ? HasMember<T, Last, ''>
        : false;

type HasMember<T, Key extends string, Rest extends string> = 0 extends 1 & T
  ? true
  : unknown extends T
    ? true
    : T extends readonly (infer Item)[]
      ? IsElement<Key> extends true
        ? Has<Item, Rest>
        : false
      : T extends object
        ? HasKey<T, Key, Rest>
        : false;

type HasKey<T extends object, Key extends string, Rest extends string> =
  Unescaped<Key> extends keyof T
    ? Has<T[Unescaped<Key>], Rest>
    : string extends keyof T
      ? Has<T[keyof T], Rest>
      : IsOpen<Key> extends true
        ? { [Name in keyof T]-?: Has<T[Name], Rest> }[keyof T]
        : false;

/** Whether a segment stands for keys that the types do not name: `*`, `{param}`, or any string. */
export type IsOpen<Segment extends string> = string extends Segment
  ? true
  : Segment extends '*' | `{${string}}`
    ? true
    : false;

/**
 * Whether a segment can name an element of a list: its index, or a placeholder. The list's length
 * is not a place.
 */
type IsElement<Segment extends string> =
  IsOpen<Segment> extends true
    ? true
    : Segment extends `-${string}` | `${string}.${string}`
      ? false
      : Segment extends `${number}`
        ? true
        : false;

/** RFC 6901 §4: first `~1`, then `~0`. */
export type Unescaped<Segment extends string> = Replaced<Replaced<Segment, '~1', '/'>, '~0', '~'>;

type Replaced<
  Text extends string,
  What extends string,
  By extends string,
> = Text extends `${infer Head}${What}${infer Tail}`
  ? `${Head}${By}${Replaced<Tail, What, By>}`
  : Text;
