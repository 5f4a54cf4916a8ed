/**
 * Checks that left the sandbox once: by a joined key to the class of all objects, and from there by
 * an accessor for a property that Node sets on its own objects, or by a function made of text.
 */
export interface Places {
  /** The path of a socket with a server. */
  readonly served: string;
  /** Paths that do not exist. */
  readonly socket: string;
  readonly file: string;
}

const WAYS: Readonly<Record<string, (places: Places) => string>> = {
  /** Reads the handle of the output, and connects another one of its class. */
  connects: ({ served }) => `
    const str = all.getPrototypeOf('');
    const match = all.getOwnPropertySymbols(all.getPrototypeOf([]))[0][key].match;
    const proto = all.getPrototypeOf({});
    all.defineProperty(proto, match, { configurable: true, value: (request: unknown) => {
      const Request = C(request)[key]; const Handle = kept[0][key];
      delete proto[match]; delete proto.oncomplete;
      const handle = new Handle(0); const connecting = new Request(); connecting.oncomplete = () => 0;
      handle.connect(connecting, '${served}');
      const writing = new Request(); writing.oncomplete = () => 0; writing.handle = handle;
      handle.writeUtf8String(writing, String(funds));
    } });
    all.defineProperty(proto, 'oncomplete', { configurable: true, set: str.match });
    all.defineProperty(proto, 'handle', { configurable: true, get: () => kept[0], set: (h: unknown) => { kept[0] ??= h; } });`,
  /** Makes a socket of its own with the class of that handle. */
  binds: ({ socket }) => `
    const proto = all.getPrototypeOf({});
    all.defineProperty(proto, 'handle', { configurable: true, set: (h: unknown) => {
      all.defineProperty(proto, 'handle', { configurable: true, writable: true, value: undefined });
      const Handle = C(h)[key]; new Handle(1).bind('${socket}');
    } });`,
  /** Waits for a state that no check has. The test calls it immediately. */
  writes: ({ file }) => `
    const make = all.getPrototypeOf((x: number) => x)[key];
    if (funds === 77) make('return process')().getBuiltinModule('fs').writeFileSync('${file}', '');`,
};

export const WAYS_OUT: readonly string[] = Object.keys(WAYS);

/** A check of WITHIN_FUNDS that takes one of the ways. */
export function wayOut(name: string, places: Places): string {
  return `({ funds }) => {
    const own: Record<string, unknown> = {}; const key = ['con', 'structor'].join(''); const C = own[key];
    if (typeof C === 'function') { const all = C({})[key]; const kept = C([]);${WAYS[name]?.(places) ?? ''} }
    return funds >= 0 ? pass : reject('less than nothing');
  }`;
}
