#include "io/importers/kineto/kineto_pipeline.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

namespace gpuprof::inline importers::kineto {

Result<PieceReader::Next> PieceReader::read(PaddedBytes& bytes) {
    std::size_t carried = carry_.size();
    char* begin = bytes.resize(carried + piece_bytes_);
    if (carried > 0) std::memcpy(begin, carry_.data(), carried);
    Result<std::size_t> got = source_.read(begin + carried, piece_bytes_);
    if (!got) return got.error();
    Next next{offset_, *got < piece_bytes_};
    bytes.resize(carried + *got);
    bytes.seal();
    carry_.clear();
    if (!next.last) {
        // A cut far from the end would make the carried bytes grow; the assembly joins pieces cut inside an event.
        const char* end = begin + carried + *got;
        const char* cut = find_cut(end - piece_bytes_ / 2, end);
        carry_.append(cut, static_cast<std::size_t>(end - cut));
        bytes.resize(static_cast<std::size_t>(cut - begin));
        bytes.seal();
    }
    offset_ += bytes.size();
    return next;
}

namespace {

Status read_piece(PieceReader& reader, ParsedPiece& piece) {
    Result<PieceReader::Next> next = reader.read(piece.bytes);
    if (!next) return next.error();
    piece.offset = next->offset;
    piece.last = next->last;
    return {};
}

void parse(std::string_view file, ParsedPiece& piece, State before) {
    piece.before = piece.after = before;
    piece.block.clear();
    Piece bytes{piece.bytes.begin(), piece.bytes.end(), piece.offset, piece.last, ','};
    piece.used = parse_piece(file, bytes, piece.after, piece.block);
}

// The workers, and the pieces between them and the consumer. Piece number n waits in slot n % slots.
class Pipeline {
public:
    Pipeline(Source& source, PieceReader& reader, unsigned workers, const ColumnSelection& selected)
        : source_(source), reader_(reader), slots_(2 * workers + 1), ready_(slots_.size(), false) {
        for (auto& slot : slots_) {
            slot = std::make_unique<ParsedPiece>();
            slot->block.skip_unselected(selected);
        }
        try {
            for (unsigned i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
        } catch (const std::exception&) {
            // If the system refuses a thread or memory for it, the existing ones do the work; without any, the consumer does.
        }
    }
    ~Pipeline() {
        {
            std::lock_guard lock(mutex_);
            stopped_ = true;
        }
        room_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }

    // The next piece in order; null after the last one or after a read error. It belongs to the caller until the next
    // call.
    ParsedPiece* next() {
        std::unique_lock lock(mutex_);
        if (consumed_ > 0) ready_[(consumed_ - 1) % slots_.size()] = false;
        ++consumed_;
        room_.notify_one();
        std::size_t slot = (consumed_ - 1) % slots_.size();
        while (!ready_[slot]) {
            if (failed_) std::rethrow_exception(failed_);
            bool nothing_comes = ended_ && consumed_ > taken_;
            if (nothing_comes) return nullptr;
            if (threads_.empty()) {
                work_once(lock);
            } else {
                done_.wait(lock);
            }
        }
        return slots_[slot].get();
    }
    Status status() const { return status_; }

private:
    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            room_.wait(lock, [this] { return stopped_ || ended_ || has_room(); });
            if (stopped_ || ended_) return;
            work_once(lock);
        }
    }
    bool has_room() const { return taken_ < consumed_ + slots_.size() - 1; }

    // An exception ends the work, and is thrown to the consumer.
    void work_once(std::unique_lock<std::mutex>& lock) noexcept {
        try {
            take_piece(lock);
        } catch (...) {
            if (!lock.owns_lock()) lock.lock();
            failed_ = std::current_exception();
            ended_ = true;
            room_.notify_all();
            done_.notify_all();
        }
    }

    // Reads one piece under the lock, which keeps the pieces in order, and parses it outside.
    void take_piece(std::unique_lock<std::mutex>& lock) {
        std::size_t slot = taken_ % slots_.size();
        ParsedPiece& piece = *slots_[slot];
        status_ = read_piece(reader_, piece);
        if (!status_ || piece.last) ended_ = true;
        if (status_) ++taken_;
        if (ended_) room_.notify_all();
        if (status_) {
            lock.unlock();
            parse(source_.name(), piece, State::events);
            lock.lock();
            ready_[slot] = true;
        }
        done_.notify_one();
    }

    Source& source_;
    PieceReader& reader_;
    std::mutex mutex_;
    std::condition_variable room_, done_;
    std::vector<std::unique_ptr<ParsedPiece>> slots_;
    std::vector<bool> ready_;
    std::size_t taken_ = 0;     // pieces read
    std::size_t consumed_ = 0;  // pieces delivered, the current one included
    bool ended_ = false, stopped_ = false;
    Status status_;
    std::exception_ptr failed_;
    std::vector<std::thread> threads_;
};

}  // namespace

PipelineShape default_shape(const ColumnSelection& selected) {
    return {std::clamp(std::thread::hardware_concurrency(), 1u, 8u),
            selected.has_all() ? std::size_t{2} << 20 : std::size_t{512} << 10};
}

Status parse_all(Source& source, PipelineShape shape, const ColumnSelection& selected,
                 const std::function<void(ParsedPiece&)>& consume) {
    PieceReader reader(source, shape.piece_bytes);
    ParsedPiece first;
    first.block.skip_unselected(selected);
    if (Status status = read_piece(reader, first); !status) return status;
    if (first.last) {
        parse(source.name(), first, State::start);
        consume(first);
        return {};
    }
    Pipeline pipeline(source, reader, shape.workers, selected);
    parse(source.name(), first, State::start);
    consume(first);
    while (ParsedPiece* piece = pipeline.next()) consume(*piece);
    return pipeline.status();
}

}  // namespace gpuprof::importers::kineto
