/** From this size on a chunk may stay as it is: below, the object around the bytes costs as much as they do. */
const keptFrom = 4 * 1024

const largestBlock = 256 * 1024

const nothing = new Uint8Array()

/** A chunk of a body is a view of what a socket read, and keeps all of that in memory. */
const fillsItsMemory = (chunk: Uint8Array) => chunk.length >= keptFrom && 2 * chunk.length >= chunk.buffer.byteLength

/**
 * Gathers a body in memory of at most a small multiple of its length, whatever the size of its chunks. The first chunk is kept as
 * it is, since most bodies have only one; small ones after it are copied together.
 */
export class BodyBytes {
  private pieces: Array<Uint8Array>
  private block: Uint8Array | undefined
  private blockLength = 0
  length: number

  constructor(first: Uint8Array) {
    this.pieces = [first]
    this.length = first.length
  }

  add(chunk: Uint8Array) {
    this.length += chunk.length
    const rest = this.block === undefined ? chunk : this.fill(this.block, chunk)
    if (fillsItsMemory(rest)) this.pieces.push(rest)
    else if (rest.length > 0) this.begin(rest)
  }

  /** All bytes, without a copy where they came in one chunk. */
  get whole(): Uint8Array {
    this.closeBlock()
    const [only, second] = this.pieces
    return only !== undefined && second === undefined ? only : this.copied
  }

  /** All bytes in memory of their own. */
  get copied(): Uint8Array<ArrayBuffer> {
    this.closeBlock()
    const bytes = new Uint8Array(this.length)
    let offset = 0
    for (const piece of this.pieces) {
      bytes.set(piece, offset)
      offset += piece.length
    }
    return bytes
  }

  /** Gives what the block has no room for. */
  private fill(block: Uint8Array, chunk: Uint8Array): Uint8Array {
    const room = block.length - this.blockLength
    const fits = chunk.length <= room
    block.set(fits ? chunk : chunk.subarray(0, room), this.blockLength)
    this.blockLength += fits ? chunk.length : room
    if (this.blockLength === block.length) this.closeBlock()
    return fits ? nothing : chunk.subarray(room)
  }

  private begin(chunk: Uint8Array) {
    this.block = new Uint8Array(Math.max(chunk.length, Math.min(Math.max(this.length, 1024), largestBlock)))
    this.block.set(chunk)
    this.blockLength = chunk.length
    if (this.blockLength === this.block.length) this.closeBlock()
  }

  private closeBlock() {
    if (this.block !== undefined) this.pieces.push(this.block.subarray(0, this.blockLength))
    this.block = undefined
    this.blockLength = 0
  }
}
