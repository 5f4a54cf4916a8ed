/** The type of the value at a JSON pointer in a state: `At<{a: Record<string, X>}, '/a/*'>` is `X`. */
export type At<State, Path extends string> = Path extends ''
  ? State
  : Path extends `/${infer Head}/${infer Rest}`
    ? At<Member<State, Unescaped<Head>>, `/${Rest}`>
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
 * The pointer itself where the state has such a place, and a sentence that no pointer is where it has none, so that the
 * compiler's error says it. What can't be told from the types (`any`, a pointer that is no literal) is let pass.
 */
export type Place<State, Path extends string> = true extends Has<State, Path> ? Path : `the state has no place ${Path}`;

/** The same of several pointers, by index or by name. */
export type Places<State, Paths> = {
  readonly [Name in keyof Paths]: Paths[Name] extends string ? Place<State, Paths[Name]> : Paths[Name];
};

/** Every kind of value that a union has there is asked; one that has the place is enough. */
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

/** Whether a segment stands for keys that the types don't name: `*`, `{param}`, or any text. */
export type IsOpen<Segment extends string> = string extends Segment
  ? true
  : Segment extends '*' | `{${string}}`
    ? true
    : false;

/** Whether a segment may name an element of a list: its index, or what stands for one. The list's length is no place. */
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
> = Text extends `${infer Head}${What}${infer Tail}` ? `${Head}${By}${Replaced<Tail, What, By>}` : Text;
