/** Stands for a library that a peer loads before it is known whether it is used: whoever uses it is told. */
class Absent {
  constructor() {
    throw new Error('This library is not installed among the peers.');
  }
}

const absent: object = new Proxy(Absent, {
  get: (target, member) => (typeof member === 'symbol' || member in target ? Reflect.get(target, member) : Absent),
});

// What `require` gives is the proxy itself, and not a namespace with it.
export { absent as 'module.exports' };
