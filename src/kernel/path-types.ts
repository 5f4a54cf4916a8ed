/** The type of the value at a JSON pointer in a state: `At<{a: Record<string, X>}, '/a/*'>` is `X`. */
export type At<State, Path extends string> = Path extends ''
  ? State
  : Path extends `/${infer Head}/${infer Rest}`
    ? At<Member<State, Head>, `/${Rest}`>
    : Path extends `/${infer Last}`
      ? Member<State, Last>
      : any;

type Member<T, Key extends string> = T extends readonly (infer Item)[]
  ? Item
  : Key extends keyof T
    ? T[Key]
    : string extends keyof T
      ? T[keyof T]
      : any;
