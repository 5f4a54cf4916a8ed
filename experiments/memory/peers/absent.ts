/** Stands for a library that a peer loads before it is known whether it is used: whoever uses it is told. */
class Absent {
  constructor() {
    throw new Error('The library is not installed among the peers.');
  }
}

const get = (target: object, member: string | symbol): unknown => {
  // So it is taken as it is, and its default export is itself, whichever of the two a compiler's helper makes of it.
  if (member === '__esModule') return true;
  if (member === 'default') return absent;
  // What waits for it must not take it for a promise.
  if (member === 'then') return undefined;
  return typeof member === 'symbol' || member in target ? Reflect.get(target, member) : Absent;
};

/** Some helpers copy what names they find onto an object with the prototype of the module: there the others are found. */
const prototype: object = new Proxy(Absent, { get });

const absent: object = new Proxy(Absent, { get, getPrototypeOf: () => prototype });

// What `require` gives is the proxy itself, and not a namespace with it.
export { absent as 'module.exports' };
