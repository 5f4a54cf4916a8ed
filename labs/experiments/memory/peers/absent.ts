/**
 * A stub for a library that a peer loads before it is known to be needed. A use of the library
 * throws an error.
 */
class Absent {
  constructor() {
    throw new Error('The library is not installed among the peers.');
  }
}

const get = (target: object, member: string | symbol): unknown => {
  // The helpers of compilers then use the module as it is. Its default export is the module itself,
  // for each kind of helper.
  if (member === '__esModule') return true;
  if (member === 'default') return absent;
  // An `await` must not treat the module as a promise.
  if (member === 'then') return undefined;
  return typeof member === 'symbol' || member in target ? Reflect.get(target, member) : Absent;
};

/**
 * Some helpers copy the names that they find onto an object with the prototype of the module. The
 * prototype then provides the other names.
 */
const prototype: object = new Proxy(Absent, { get });

const absent: object = new Proxy(Absent, { get, getPrototypeOf: () => prototype });

// `require` returns the proxy itself, not a namespace that contains it.
export { absent as 'module.exports' };
