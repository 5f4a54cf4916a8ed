/** Stands for a library that a peer loads before it is known whether it is used: whoever uses it is told. */
class Absent {
  constructor() {
    throw new Error('This library is not installed among the peers.');
  }
}

const absent: object = new Proxy(Absent, {
  get: (target, member) => (isItsOwn(target, member) ? Reflect.get(target, member) : Absent),
});

/** What compiled code asks to know what it was given: this is CommonJS, and so its own default export. */
function isItsOwn(target: object, member: string | symbol): boolean {
  return typeof member === 'symbol' || member === '__esModule' || member in target;
}

// What `require` gives is the proxy itself, and not a namespace with it.
export { absent as 'module.exports' };
