/** A text to find, and the number to report for it. */
export interface Pattern {
  readonly text: string
  readonly id: number
}

const root = 0

/**
 * Finds every occurrence of many texts in one pass, whatever their lengths (Aho and Corasick, "Efficient
 * string matching: an aid to bibliographic search", 1975). A trie walked anew from each position would cost
 * text × longest piece: one long piece and one long run of its first character, and it stands still.
 *
 * It reads UTF-16 code units. Nodes are numbered breadth first, so the children of a node are neighbours,
 * sorted by unit, and flat arrays no larger than the patterns together hold all there is; building costs
 * one visit per unit of each pattern. (A double array would be no faster here, and its size depends on how
 * well hostile patterns can be made not to fit into one another.)
 */
export class PieceAutomaton {
  /** The unit that leads to a node from its parent. */
  readonly #unit: Uint16Array
  /** The children of node `n` are `firstChild[n]` up to, not including, `firstChild[n + 1]`. */
  readonly #firstChild: Uint32Array
  /** The node of the longest proper suffix that is in the trie. */
  readonly #suffix: Uint32Array
  /** The longest pattern that ends at a node: the node itself, a suffix of it, or the root for none. */
  readonly #longestMatch: Uint32Array
  readonly #patternId: Uint32Array
  readonly #patternLength: Uint32Array

  /** Patterns must be distinct and not empty. */
  constructor(patterns: Iterable<Pattern>) {
    // By code units, the order of `<` on strings: texts with a common start become neighbours.
    const sorted = [...patterns].sort((a, b) => (a.text < b.text ? -1 : 1))
    const mostNodes = sorted.reduce((sum, { text }) => sum + text.length, 1)
    this.#unit = new Uint16Array(mostNodes)
    this.#firstChild = new Uint32Array(mostNodes + 1)
    this.#suffix = new Uint32Array(mostNodes)
    this.#longestMatch = new Uint32Array(mostNodes)
    this.#patternId = new Uint32Array(mostNodes)
    this.#patternLength = new Uint32Array(mostNodes)
    this.#build(sorted, mostNodes)
  }

  #build(sorted: readonly Pattern[], mostNodes: number): void {
    // Each node owns the range of sorted patterns that start with its text.
    const low = new Uint32Array(mostNodes)
    const high = new Uint32Array(mostNodes)
    const depth = new Uint32Array(mostNodes)
    high[root] = sorted.length
    let nodes = 1
    for (let node = 0; node < nodes; node++) {
      this.#firstChild[node] = nodes
      const offset = depth[node]!
      const end = high[node]!
      let next = low[node]!
      this.#longestMatch[node] = this.#longestMatch[this.#suffix[node]!]!
      const own = sorted[next]
      if (node !== root && own?.text.length === offset) {
        this.#longestMatch[node] = node
        this.#patternId[node] = own.id
        this.#patternLength[node] = offset
        next++
      }
      while (next < end) {
        const unit = sorted[next]!.text.charCodeAt(offset)
        const child = nodes++
        low[child] = next
        while (next < end && sorted[next]!.text.charCodeAt(offset) === unit) next++
        high[child] = next
        depth[child] = offset + 1
        this.#unit[child] = unit
        // Shorter than `node`, hence complete already.
        if (node !== root) this.#suffix[child] = this.step(this.#suffix[node]!, unit)
      }
    }
    this.#firstChild[nodes] = nodes
  }

  /** The state before any text. */
  get start(): number {
    return root
  }

  /** The state after one more code unit. */
  step(state: number, unit: number): number {
    let node = state
    for (;;) {
      const child = this.#child(node, unit)
      if (child !== root) return child
      if (node === root) return root
      node = this.#suffix[node]!
    }
  }

  #child(node: number, unit: number): number {
    let low = this.#firstChild[node]!
    let high = this.#firstChild[node + 1]!
    const end = high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#unit[middle]! < unit) low = middle + 1
      else high = middle
    }
    return low < end && this.#unit[low] === unit ? low : root
  }

  /**
   * The longest pattern that ends where `state` was reached, 0 for none; `nextMatch` gives the shorter ones.
   * A match is read by `idOf` and `lengthOf`.
   */
  firstMatch(state: number): number {
    return this.#longestMatch[state]!
  }

  nextMatch(match: number): number {
    return this.#longestMatch[this.#suffix[match]!]!
  }

  idOf(match: number): number {
    return this.#patternId[match]!
  }

  /** In code units. */
  lengthOf(match: number): number {
    return this.#patternLength[match]!
  }
}
