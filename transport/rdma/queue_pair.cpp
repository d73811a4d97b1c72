#include "transport/rdma/queue_pair.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace perigee::transport::rdma {

result<queue_pair, verbs_error> queue_pair::make(const device& on,
                                                 queue_pair_options how) {
  ibv_qp_init_attr wish{};
  wish.send_cq = wish.recv_cq = on.completions();
  wish.qp_type = IBV_QPT_RC;
  wish.sq_sig_all = 1;
  wish.cap.max_send_wr = std::min(how.depth, on.limits().work_requests_max);
  wish.cap.max_recv_wr = 1; // some devices refuse 0
  wish.cap.max_send_sge = wish.cap.max_recv_sge = 1;
  queue_pair made;
  made.on_ = &on;
  made.how_ = how;
  made.made_.reset(ibv_create_qp(on.domain(), &wish));
  if (!made.made_)
    return failure(verbs_error{"ibv_create_qp", errno});
  if (auto done = made.reset(); !done)
    return failure(done.error());
  return made;
}

result<void, verbs_error> queue_pair::reset() {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RESET;
  if (int code = ibv_modify_qp(made_.get(), &to, IBV_QP_STATE))
    return failure(verbs_error{"ibv_modify_qp to RESET", code});
  to.qp_state = IBV_QPS_INIT;
  to.port_num = 1;
  to.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  if (int code = ibv_modify_qp(made_.get(), &to,
                               IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT
                                 | IBV_QP_ACCESS_FLAGS))
    return failure(verbs_error{"ibv_modify_qp to INIT", code});
  return {};
}

result<void, verbs_error> queue_pair::connect(const port_address& port,
                                              queue_pair_address there,
                                              std::uint32_t first_packet) {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RTR;
  to.path_mtu = static_cast<ibv_mtu>(std::min(port.mtu, on_->address().mtu));
  to.dest_qp_num = there.number;
  to.rq_psn = there.first_packet;
  to.max_dest_rd_atomic = on_->address().reads_max;
  to.min_rnr_timer = 12;
  to.ah_attr.port_num = 1;
  to.ah_attr.dlid = port.lid;
  to.ah_attr.is_global = on_->is_ethernet();
  std::memcpy(to.ah_attr.grh.dgid.raw, port.gid.data(), port.gid.size());
  to.ah_attr.grh.sgid_index = on_->gid_index();
  to.ah_attr.grh.hop_limit = 64;
  if (int code = ibv_modify_qp(made_.get(), &to,
                               IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU
                                 | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
                                 | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
    return failure(verbs_error{"ibv_modify_qp to RTR", code});
  to = {};
  to.qp_state = IBV_QPS_RTS;
  to.timeout = how_.timeout;
  to.retry_cnt = std::min<std::uint8_t>(how_.retries, 6);
  to.rnr_retry = 6;
  to.sq_psn = first_packet;
  to.max_rd_atomic = std::min(port.reads_max, on_->limits().reads_max);
  if (int code
      = ibv_modify_qp(made_.get(), &to,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT
                        | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
    return failure(verbs_error{"ibv_modify_qp to RTS", code});
  return {};
}

void queue_pair::error() {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_ERR;
  ibv_modify_qp(made_.get(), &to, IBV_QP_STATE);
}

int queue_pair::post(const one_sided& what, std::uint64_t number) {
  ibv_sge here{};
  here.addr = reinterpret_cast<std::uintptr_t>(what.here);
  here.length = what.bytes;
  here.lkey = what.key_here;
  ibv_send_wr wish{}, *bad = nullptr;
  wish.wr_id = number;
  wish.sg_list = &here;
  wish.num_sge = what.bytes > 0;
  wish.opcode = what.is_read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
  wish.wr.rdma.remote_addr = what.there;
  wish.wr.rdma.rkey = what.key_there;
  return ibv_post_send(made_.get(), &wish, &bad);
}

int queue_pair::post_probe(std::uint64_t number) {
  return post({}, number);
}

int queue_pair::post_bind(ibv_mw* window, ibv_mr* region, std::uint64_t base,
                          std::uint64_t bytes, std::uint64_t number) {
  ibv_send_wr wish{}, *bad = nullptr;
  wish.wr_id = number;
  wish.opcode = IBV_WR_BIND_MW;
  wish.bind_mw.mw = window;
  wish.bind_mw.rkey = ibv_inc_rkey(window->rkey);
  wish.bind_mw.bind_info.mr = region;
  wish.bind_mw.bind_info.addr = base;
  wish.bind_mw.bind_info.length = bytes;
  wish.bind_mw.bind_info.mw_access_flags
    = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  int code = ibv_post_send(made_.get(), &wish, &bad);
  if (code == 0)
    window->rkey = wish.bind_mw.rkey;
  return code;
}

} // namespace perigee::transport::rdma
